// What a desk knows of the questions that are open, and what its threads tell each other.

use std::collections::{HashMap, VecDeque};

use crate::call::Attachment;
use crate::event::Event;
use crate::ffi;

// One question that has not been answered.
#[derive(Default)]
pub(crate) struct Open {
    pub(crate) asked: bool,
    pub(crate) room: bool,
    pub(crate) ended: bool,
    pub(crate) attachments: Vec<Attachment>,
}

// What sorting looks at; a test brings its own.
pub(crate) trait Arrived {
    fn kind(&self) -> i32;
    fn id(&self) -> u64;
    fn stream(&self) -> i32;
    fn data(&self) -> &[u8];
    fn attachment(&self) -> Attachment;
}

impl Arrived for Event {
    fn kind(&self) -> i32 {
        Event::kind(self)
    }
    fn id(&self) -> u64 {
        Event::id(self)
    }
    fn stream(&self) -> i32 {
        Event::stream(self)
    }
    fn data(&self) -> &[u8] {
        Event::data(self)
    }
    fn attachment(&self) -> Attachment {
        Attachment::of(self)
    }
}

pub(crate) struct State<E = Event> {
    pub(crate) reading: bool,
    pub(crate) stopped: bool,
    pub(crate) todo: VecDeque<E>,
    pub(crate) open: HashMap<u64, Open>,
}

impl<E> Default for State<E> {
    fn default() -> State<E> {
        let (todo, open) = (VecDeque::new(), HashMap::new());
        State { reading: false, stopped: false, todo, open }
    }
}

impl<E: Arrived> State<E> {
    pub(crate) fn take_attachments(&mut self, id: u64) -> Vec<Attachment> {
        let open = self.open.get_mut(&id);
        open.map(|o| std::mem::take(&mut o.attachments)).unwrap_or_default()
    }

    // Events come here in the order of the queue: an ask before what ends it.
    pub(crate) fn sort(&mut self, event: E) {
        let id = event.id();
        match event.kind() {
            ffi::BH_EVENT_ASK => {
                self.open.entry(id).or_default().asked = true;
                self.todo.push_back(event);
            }
            ffi::BH_EVENT_ATTACHMENT => {
                let open = self.open.entry(id).or_default();
                open.attachments.push(event.attachment());
            }
            ffi::BH_EVENT_OUTPUT => {
                let stream = event.stream();
                let open = self.open.get_mut(&id);
                let mut attachments = open.into_iter().flat_map(|o| o.attachments.iter_mut());
                if let Some(whose) = attachments.find(|a| a.stream == stream) {
                    whose.data.extend_from_slice(event.data());
                }
            }
            ffi::BH_EVENT_ROOM => {
                if let Some(open) = self.open.get_mut(&id) {
                    open.room = true;
                }
            }
            ffi::BH_EVENT_ASK_ENDED => {
                let waits = self.todo.iter().position(|e| e.id() == id);
                if let Some(open) = self.open.get_mut(&id) {
                    open.ended = true;
                    if waits.is_some() || !open.asked {
                        self.open.remove(&id);
                    }
                }
                if let Some(at) = waits {
                    self.todo.remove(at);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake(i32, u64, i32, &'static [u8]);

    impl Arrived for Fake {
        fn kind(&self) -> i32 {
            self.0
        }
        fn id(&self) -> u64 {
            self.1
        }
        fn stream(&self) -> i32 {
            self.2
        }
        fn data(&self) -> &[u8] {
            self.3
        }
        fn attachment(&self) -> Attachment {
            Attachment { stream: self.2, data: self.3.to_vec(), ..Attachment::default() }
        }
    }

    #[test]
    fn a_question_that_ended_before_its_turn_is_forgotten() {
        let mut state = State::default();
        for id in 1..4 {
            state.sort(Fake(ffi::BH_EVENT_ASK, id, 0, b""));
        }
        state.sort(Fake(ffi::BH_EVENT_ASK_ENDED, 2, 0, b""));
        assert_eq!(state.todo.iter().map(|e| e.1).collect::<Vec<_>>(), [1, 3]);
        assert!(!state.open.contains_key(&2) && state.open.len() == 2);
        // One whose attachments came and that was never asked.
        state.sort(Fake(ffi::BH_EVENT_ATTACHMENT, 9, 0, b"x"));
        state.sort(Fake(ffi::BH_EVENT_ASK_ENDED, 9, 0, b""));
        assert!(!state.open.contains_key(&9));
        // One at hand stays, so that its closure can hear of it.
        state.todo.pop_front();
        state.sort(Fake(ffi::BH_EVENT_ASK_ENDED, 1, 0, b""));
        assert!(state.open[&1].ended);
    }

    #[test]
    fn the_bytes_of_a_large_attachment_reach_it() {
        let mut state = State::default();
        let (one, two) = (ffi::BH_STREAM_ATTACHED, ffi::BH_STREAM_ATTACHED + 1);
        for stream in [one, two] {
            state.sort(Fake(ffi::BH_EVENT_ATTACHMENT, 5, stream, b""));
        }
        for (stream, data) in [(two, &b"b"[..]), (one, b"a"), (two, b"c"), (one, b"")] {
            state.sort(Fake(ffi::BH_EVENT_OUTPUT, 5, stream, data));
        }
        let found: Vec<_> = state.take_attachments(5).into_iter().map(|a| a.data).collect();
        assert_eq!(found, [b"a".to_vec(), b"bc".to_vec()]);
    }
}
