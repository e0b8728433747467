// Reads JSON (RFC 8259) from a text, strictly, in one pass.

use super::json::{Json, JsonError, DEPTH};

pub(crate) fn read(text: &str) -> Result<Json, JsonError> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        return reader.fail("something follows the value");
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Read<T> = Result<T, JsonError>;

impl<'a> Reader<'a> {
    fn fail<T>(&self, what: &'static str) -> Read<T> {
        Err(JsonError { at: self.at, what })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Read<Json> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') if depth == DEPTH => self.fail("it is nested too deep"),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.fail("a value is due"),
            None => self.fail("it ends where a value is due"),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Read<Json> {
        if !self.text[self.at..].starts_with(word) {
            return self.fail("a value is due");
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Read<Json> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return self.fail("a comma or ] is due");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Read<Json> {
        let begin = self.at;
        self.at += 1;
        let mut members: Vec<(String, Json)> = Vec::new();
        self.space();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.fail("a name in quotes is due");
            }
            let name = self.string()?;
            self.space();
            if !self.take(b':') {
                return self.fail("a colon is due");
            }
            members.push((name, self.value(depth + 1)?));
            self.space();
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return self.fail("a comma or } is due");
            }
        }
        let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(JsonError { at: begin, what: "a name stands twice in this object" });
        }
        Ok(Json::Object(members))
    }

    fn digits(&mut self) -> Read<()> {
        let from = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == from {
            return self.fail("a digit is due");
        }
        Ok(())
    }

    fn number(&mut self) -> Read<Json> {
        let from = self.at;
        self.take(b'-');
        if self.take(b'0') {
            if let Some(b'0'..=b'9') = self.peek() {
                return self.fail("a number does not begin with 0");
            }
        } else {
            self.digits()?;
        }
        let mut whole = true;
        if self.take(b'.') {
            whole = false;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            whole = false;
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let text = &self.text[from..self.at];
        // "-0" is a float: as a whole number its sign would be lost.
        if whole && text != "-0" {
            if let Ok(number) = text.parse::<i64>() {
                return Ok(Json::Int(number));
            }
            if let Ok(number) = text.parse::<u64>() {
                return Ok(Json::UInt(number));
            }
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Json::Float(number)),
            _ => Err(JsonError { at: from, what: "the number is too large" }),
        }
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while matches!(self.peek(), Some(b) if b >= 0x20 && b != b'"' && b != b'\\') {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(_) => return self.fail("a control character must be escaped"),
                None => return self.fail("the string does not end"),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let letter = self.peek();
        let plain = match letter {
            Some(b'"' | b'\\' | b'/') => char::from(letter.unwrap_or(b'/')),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.fail("no such escape"),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Read<char> {
        let first = self.hex()?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).map_or_else(|| self.fail("no such character"), Ok);
        }
        if first >= 0xdc00 || !(self.take(b'\\') && self.take(b'u')) {
            return self.fail("half of a surrogate pair");
        }
        let second = self.hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            return self.fail("half of a surrogate pair");
        }
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        char::from_u32(code).map_or_else(|| self.fail("no such character"), Ok)
    }

    fn hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            match self.peek().and_then(|b| char::from(b).to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return self.fail("four hexadecimal digits are due"),
            }
            self.at += 1;
        }
        Ok(code)
    }
}
