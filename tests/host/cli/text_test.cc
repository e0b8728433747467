#include "cli/text.h"

#include "cli/problem.h"
#include "cli/table.h"
#include "support/catch.h"

using namespace bh::cli;

TEST_CASE("nothing that a terminal would obey is left in printable text") {
  CHECK(printable("plain äöü €") == "plain äöü €");
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable("a\nb\tc\r\nd") == "a b c d");
  CHECK(printable("bell\a del\x7f") == "bell\\x07 del\\x7f");
  CHECK(printable("c1 \xc2\x9b") == "c1 \\xc2\\x9b");
  CHECK(printable("not utf-8 \xff\xc3") == "not utf-8 \\xff\\xc3");
  CHECK(printable("surrogate \xed\xa0\x80") == "surrogate \\xed\\xa0\\x80");
  CHECK(printable(std::string("nul\0", 4)) == "nul\\x00");
}

TEST_CASE("a sentence ends without a full stop and with its remedy") {
  CHECK(sentence({"it broke.", "mend it."}) == "bulkhead: it broke (mend it)\n");
  CHECK(sentence({"it broke", ""}) == "bulkhead: it broke\n");
  CHECK(sentence({"two\nlines\x1b", ""}) == "bulkhead: two lines\\x1b\n");
}

TEST_CASE("UTF-8") {
  CHECK(is_utf8("grüße"));
  CHECK_FALSE(is_utf8("\xff"));
  CHECK_FALSE(is_utf8("\xc0\x80"));
}

TEST_CASE("cutting counts code points") {
  CHECK(cut_to("äöü", 3) == "äöü");
  CHECK(cut_to("äöüß", 3) == "äö…");
  CHECK(cut_to("abc", 1) == "…");
  CHECK(cut_to("abc", 0) == "");
}

TEST_CASE("first sentence") {
  CHECK(first_sentence("Runs it. And more.") == "Runs it.");
  CHECK(first_sentence("Runs it\nAnd more.") == "Runs it");
  CHECK(first_sentence("\n  v1.2 of it") == "v1.2 of it");
}

TEST_CASE("the nearest word") {
  std::vector<std::string> words{"doctor", "plugins", "tools", "call", "run"};
  CHECK(nearest("docter", words) == "doctor");
  CHECK(nearest("plug", words) == "plugins");
  CHECK(nearest("tool", words) == "tools");
  CHECK(nearest("xyzzy", words).empty());
}

TEST_CASE("durations and sizes") {
  CHECK(duration_text(5) == "5 ms");
  CHECK(duration_text(1500) == "1.5 s");
  CHECK(duration_text(10000) == "10 s");
  CHECK(duration_text(600000) == "10 min");
  CHECK(duration_text(7200000) == "2 h");
  CHECK(bytes_text(0) == "0 bytes");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(2147483648) == "2 GiB");
}

TEST_CASE("a table aligns by what is seen") {
  Table t({"NAME", "STATUS", "WHY"});
  t.row({"ä", "ok", ""}, Paint::kGood, 1);
  t.row({"longer", "refused", "a reason"}, Paint::kBad, 1);
  CHECK(t.text(Palette(false)) ==
        "NAME    STATUS   WHY\n"
        "ä       ok\n"
        "longer  refused  a reason\n");
}

TEST_CASE("colours do not move columns, and only the last column is cut") {
  Table t({"NAME", "STATUS", "WHY"});
  t.row({"x", "refused", "a long reason that does not fit"}, Paint::kBad, 1);
  CHECK(t.text(Palette(true), 34) ==
        "NAME  STATUS   WHY\n"
        "x     \x1b[31mrefused\x1b[0m  a long reason that…\n");
  CHECK(t.text(Palette(true), 20).find("does not fit") != std::string::npos);
}

TEST_CASE("a table without a header prints none, and hostile cells are tamed") {
  Table t({"", ""});
  t.row({"a", "\x1b]0;title\a"});
  CHECK(t.text(Palette(false), 0, "  ") == "  a  \\x1b]0;title\\x07\n");
}
