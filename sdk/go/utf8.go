package bulkhead

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// kept refuses a value of which encoding/json has written another string than it holds: of bytes that
// are not UTF-8 it makes the escape \ufffd, which it writes for nothing else, so that the value itself
// is looked at in that case alone. What a Marshaler of the program's has written is its own matter.
func kept(text []byte, value any, what string) error {
	if !bytes.Contains(text, []byte(`\ufffd`)) {
		return nil
	}
	where, bad := badText(reflect.ValueOf(value), what)
	if !bad {
		return nil
	}
	return fault(InvalidArgument, "json_utf8", where+" is not UTF-8, and JSON cannot carry it; where the operation "+
		`takes {"base64": ...} for it, give that, and send bytes as an attachment, as input or as output`)
}

var (
	marshaler     = reflect.TypeOf((*json.Marshaler)(nil)).Elem()
	textMarshaler = reflect.TypeOf((*encoding.TextMarshaler)(nil)).Elem()
	// Marshalers that write each of their fields.
	ours = map[reflect.Type]bool{reflect.TypeOf(ToolResult{}): true, reflect.TypeOf(&ToolResult{}): true,
		reflect.TypeOf(Content{}): true, reflect.TypeOf(&Content{}): true}
)

// badText finds a string that is not UTF-8 in what encoding/json writes of v, and says where.
func badText(v reflect.Value, at string) (where string, bad bool) {
	if !v.IsValid() {
		return "", false
	}
	kind, its := v.Kind(), v.Type()
	if kind != reflect.Interface && !ours[its] && (its.Implements(marshaler) || its.Implements(textMarshaler)) {
		return "", false
	}
	switch kind {
	case reflect.Interface, reflect.Pointer:
		return badText(v.Elem(), at)
	case reflect.String:
		return at, !utf8.ValidString(v.String())
	case reflect.Slice, reflect.Array:
		if its.Elem().Kind() == reflect.Uint8 {
			return "", false // numbers, or base64
		}
		for i := 0; i < v.Len() && !bad; i++ {
			where, bad = badText(v.Index(i), fmt.Sprintf("%s[%d]", at, i))
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next() && !bad; {
			name := fmt.Sprint(each.Key())
			if where, bad = badText(each.Key(), fmt.Sprintf("the key %q of %s", name, at)); !bad {
				where, bad = badText(each.Value(), at+"."+name)
			}
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && !bad; i++ {
			field := its.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case name == "-" || !field.IsExported() && !field.Anonymous:
				continue
			case name == "":
				name = field.Name
			}
			where, bad = badText(v.Field(i), at+"."+name)
		}
	}
	return where, bad
}
