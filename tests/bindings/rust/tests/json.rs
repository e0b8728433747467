use bulkhead::json::{object, Json, DEPTH};

fn round(text: &str) -> String {
    Json::parse(text).unwrap_or_else(|e| panic!("{}: {}", text, e)).to_string()
}

#[test]
fn what_is_read_is_written_again() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615",
        "1.5",
        "-0.0",
        "\"\"",
        "[]",
        "{}",
        "[1,[2,{}],{\"a\":[]}]",
        "{\"b\":1,\"a\":{\"c\":null}}",
        "\"\u{e9}\u{4e2d}\u{1f600}\"",
    ] {
        assert_eq!(round(text), text);
    }
    assert_eq!(round(" { \"a\" : [ 1 ,\t2 ] ,\r\n\"b\":\"x\" } "), "{\"a\":[1,2],\"b\":\"x\"}");
}

#[test]
fn escapes_are_read_and_written() {
    let all = Json::parse(r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u4e2d\ud83d\ude00\u0000""#).unwrap();
    assert_eq!(all.as_str(), Some("\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{4e2d}\u{1f600}\0"));
    let back = "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\tA\u{e9}\u{4e2d}\u{1f600}\\u0000\"";
    assert_eq!(all.to_string(), back);
    assert_eq!(object([("a\"\n", true.into())]).to_string(), "{\"a\\\"\\n\":true}");
    // DEL and U+2028 stand for themselves.
    assert_eq!(round("\"\u{7f}\u{2028}\""), "\"\u{7f}\u{2028}\"");
}

#[test]
fn every_character_comes_back() {
    for first in (0..0x11_0000u32).step_by(0x400) {
        let text: String = (first..first + 0x400).filter_map(char::from_u32).collect();
        let json = Json::from(text.as_str());
        assert_eq!(Json::parse(&json.to_string()).unwrap(), json);
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{:04X}", unit)).collect();
        assert_eq!(Json::parse(&format!("\"{}\"", escaped)).unwrap(), json);
    }
}

#[test]
fn numbers_keep_their_value() {
    assert_eq!(Json::parse("12").unwrap().as_i64(), Some(12));
    assert_eq!(Json::parse("12.0").unwrap().as_i64(), Some(12));
    assert_eq!(Json::parse("12").unwrap().as_f64(), Some(12.0));
    assert_eq!(Json::parse("1e3").unwrap().as_f64(), Some(1000.0));
    assert_eq!(Json::parse("-2.5E-1").unwrap().as_f64(), Some(-0.25));
    // One more than fits.
    let large = Json::parse("9223372036854775808").unwrap();
    assert_eq!(large.as_f64(), Some(9223372036854775808.0));
    for number in [0.1, 1e300, 5e-324, f64::MAX, 1.0, -123456789.123] {
        let text = Json::from(number).to_string();
        assert_eq!(Json::parse(&text).unwrap().as_f64(), Some(number), "{}", text);
    }
    assert_eq!(Json::from(f64::NAN).to_string(), "null");
    assert_eq!(Json::from(f64::NEG_INFINITY).to_string(), "null");
    assert_eq!(Json::from(u64::MAX).as_i64(), None);
    assert_eq!(Json::from(u64::MAX).to_string(), "18446744073709551615");
}

#[test]
fn what_is_not_json_is_refused_where_it_goes_wrong() {
    for (text, at) in [
        ("", 0),
        ("  ", 2),
        ("nul", 0),
        ("True", 0),
        ("01", 1),
        ("-", 1),
        ("+1", 0),
        (".5", 0),
        ("1.", 2),
        ("1e", 2),
        ("1e400", 0),
        ("1 2", 2),
        ("[1", 2),
        ("[1,", 3),
        ("[1,]", 3),
        ("[,1]", 1),
        ("{", 1),
        ("{a:1}", 1),
        ("{\"a\" 1}", 5),
        ("{\"a\":1,}", 7),
        ("{\"a\":1,\"b\":2,\"a\":3}", 0),
        ("{\"a\":1,\"\\u0061\":3}", 0),
        ("\"a", 2),
        ("\"\n\"", 1),
        ("\"\\x\"", 2),
        ("\"\\u12\"", 5),
        ("\"\\u12g4\"", 5),
        ("'a'", 0),
        ("// c\n1", 0),
        ("NaN", 0),
        ("\u{feff}1", 0),
    ] {
        match Json::parse(text) {
            Ok(value) => panic!("{:?} was read as {}", text, value),
            Err(error) => assert_eq!(error.at, at, "{:?}: {}", text, error),
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\ude00\ud83d""#,
    ] {
        assert!(Json::parse(text).is_err(), "{}", text);
    }
}

#[test]
fn depth_is_limited() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Json::parse(&nested(DEPTH)).is_ok());
    assert!(Json::parse(&nested(DEPTH + 1)).is_err());
    assert!(Json::parse(&"[".repeat(10_000_000)).is_err());
    assert!(Json::parse(&"{\"a\":".repeat(1_000_000)).is_err());
}

#[test]
fn any_cut_of_a_text_is_refused_or_read() {
    let text = r#"{"a":[1,-2.5e3,"\ud83d\ude00é",true,null],"b":{"c":"\n"}}"#;
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(Json::parse(&text[..end]).is_err(), "{}", &text[..end]);
    }
    assert!(Json::parse(text).is_ok());
}

#[test]
fn looking_never_panics() {
    let json = Json::parse(r#"{"a":[1,{"b":"x"}]}"#).unwrap();
    assert_eq!(json["a"][1]["b"].as_str(), Some("x"));
    assert!(json["a"][7]["b"]["c"][0].is_null());
    assert!(json["a"]["b"].is_null());
    assert_eq!(json.items(), &[]);
    assert_eq!(json.members().len(), 1);
    assert_eq!(json["a"].as_str(), None);
    assert_eq!(Json::from(None::<i64>), Json::Null);
}

#[test]
fn whole_numbers_are_whole_however_they_are_written() {
    let read = |text: &str| Json::parse(text).unwrap();
    for (text, number) in [("5", 5), ("5.0", 5), ("1e3", 1000), ("-0.0", 0), ("-2e0", -2)] {
        assert_eq!(read(text).as_i64(), Some(number), "{}", text);
    }
    for text in ["5.5", "1e300", "9007199254740993.0e3", "18446744073709551615", "\"5\""] {
        assert_eq!(read(text).as_i64(), None, "{}", text);
    }
    assert_eq!(read("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!((read("7.0").as_u64(), read("-1").as_u64()), (Some(7), None));
    assert_eq!(read("18446744073709551616"), Json::Float(18446744073709551616.0));
}
