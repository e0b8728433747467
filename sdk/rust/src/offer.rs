//! What a [`Desk`] offers, and one question as its closures see it.

use crate::call::Attachment;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::json::{object, Json};
use crate::runtime::Session;
use crate::serve::Ask;

/// A tool of this program's own, as models see it (`abi/schemas/tool.json`).
#[derive(Clone, Debug)]
pub struct Tool {
    definition: Vec<(String, Json)>,
    attachments: bool,
}

impl Tool {
    /// `name`: 1 to 128 of `A-Z a-z 0-9 _ - .`; `input_schema`: the JSON Schema of its arguments, which the host
    /// enforces before the tool is asked.
    pub fn new(name: &str, description: &str, input_schema: Json) -> Tool {
        let definition = vec![
            ("name".to_owned(), name.into()),
            ("description".to_owned(), description.into()),
            ("input_schema".to_owned(), input_schema),
        ];
        Tool { definition, attachments: false }
    }

    /// Another key of the definition: `title`, `output_schema`, `annotations`, ...; a later one replaces.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Tool {
        self.definition.retain(|(known, _)| known != key);
        self.definition.push((key.to_owned(), value.into()));
        self
    }

    /// Takes its callers' attachments; without it, calls that bring some are refused.
    #[must_use]
    pub fn takes_attachments(mut self) -> Tool {
        self.attachments = true;
        self
    }

    pub(crate) fn offer(self) -> Json {
        let mut offer = vec![("tool", Json::Object(self.definition))];
        if self.attachments {
            offer.push(("attachments", true.into()));
        }
        object(offer)
    }
}

/// A tool's result that is one text.
pub fn text_result(text: impl Into<Json>) -> Json {
    let content = object([("type", "text".into()), ("text", text.into())]);
    object([("content", Json::from(vec![content]))])
}

/// A tool's result that says, to the model, that it ran and failed.
pub fn error_result(text: impl Into<Json>) -> Json {
    match text_result(text) {
        Json::Object(mut members) => {
            members.push(("is_error".to_owned(), true.into()));
            Json::Object(members)
        }
        other => other,
    }
}

/// One question, while a closure answers it. What the closure returns is the answer.
#[derive(Debug)]
pub struct Asked<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) ask: Ask,
    pub(crate) name: String,
    pub(crate) args: Json,
    pub(crate) attachments: Vec<Attachment>,
}

impl Asked<'_> {
    /// What is asked for: the tool's name, `approval` or `policy.judge`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments; of a tool they satisfy its schema.
    pub fn args(&self) -> &Json {
        &self.args
    }

    /// What the caller attached, whole; none unless the offer takes attachments.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Output for the caller, as it appears. Waits while the caller reads slowly.
    ///
    /// # Errors
    /// `ask_ended` (`OUT_OF_RANGE`): nobody waits for the answer any more; give up.
    pub fn emit(&mut self, stream: i32, mut data: &[u8]) -> Result<(), Fault> {
        let id = self.ask.id();
        loop {
            self.desk.forget_room(id);
            let taken = self.ask.emit(stream, data)?;
            data = &data[taken..];
            if data.is_empty() {
                return Ok(());
            }
            self.desk.wait_for_room(id)?;
        }
    }

    /// Bytes that the result names, 64 MiB at most. Waits while the caller reads slowly.
    ///
    /// # Errors
    /// `attachment_too_large`: emit them instead; `ask_ended`.
    pub fn attach(&mut self, name: &str, media_type: &str, data: &[u8]) -> Result<(), Fault> {
        let id = self.ask.id();
        loop {
            self.desk.forget_room(id);
            match self.ask.attach(name, media_type, data) {
                Err(fault) if fault.reason() == "ask_full" => self.desk.wait_for_room(id)?,
                other => return other,
            }
        }
    }

    /// A session with the caller's rights, deadline and cancellation, and no more: for what the answer
    /// needs. A call through it of a tool that the same desk serves needs another thread on
    /// [`Desk::run`].
    ///
    /// # Errors
    /// `ask_ended`.
    pub fn session(&self) -> Result<Session, Fault> {
        self.ask.session(self.desk.runtime())
    }

    /// Whether nobody waits for the answer any more: the caller cancelled, or its time is over. Known as
    /// soon as any thread on [`Desk::run`] has heard of it; never waits.
    pub fn has_ended(&self) -> bool {
        self.desk.has_ended(self.ask.id())
    }
}
