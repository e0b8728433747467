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

#[derive(Default)]
pub(crate) struct State {
    pub(crate) reading: bool,
    pub(crate) stopped: bool,
    pub(crate) todo: VecDeque<Event>,
    pub(crate) open: HashMap<u64, Open>,
}

impl State {
    pub(crate) fn take_attachments(&mut self, id: u64) -> Vec<Attachment> {
        let open = self.open.get_mut(&id);
        open.map(|o| std::mem::take(&mut o.attachments)).unwrap_or_default()
    }

    // Events come here in the order of the queue: an ask before what ends it.
    pub(crate) fn sort(&mut self, event: Event) {
        let id = event.id();
        match event.kind() {
            ffi::BH_EVENT_ASK => {
                self.open.entry(id).or_default().asked = true;
                self.todo.push_back(event);
            }
            ffi::BH_EVENT_ATTACHMENT => {
                let open = self.open.entry(id).or_default();
                open.attachments.push(Attachment::of(&event));
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
