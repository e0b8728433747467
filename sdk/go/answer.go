package bulkhead

import (
	"bytes"
	"encoding/json"
)

// ToolResult is what a tool answers (abi/schemas/tool_result.json). One that was read from JSON has
// its Structured as a json.RawMessage, to decode into a type of the program's, and the numbers of Meta
// and Annotations as json.Number: a float64 holds no integer above 2^53.
type ToolResult struct {
	Content    []Content      `json:"content"`
	Structured any            `json:"structured,omitempty"` // satisfies the OutputSchema where there is one
	IsError    bool           `json:"is_error,omitempty"`   // it ran and failed
	Meta       map[string]any `json:"meta,omitempty"`
}

// Content is one part of a tool's answer.
type Content struct {
	Type        string         `json:"type"`                 // text, attachment, link or resource
	Text        string         `json:"text,omitempty"`       // text, resource: the text
	Attachment  string         `json:"attachment,omitempty"` // its name, as given to Ask.Attach
	URI         string         `json:"uri,omitempty"`        // link, resource
	Name        string         `json:"name,omitempty"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	MediaType   string         `json:"media_type,omitempty"`
	Size        int64          `json:"size,omitempty"`
	Annotations map[string]any `json:"annotations,omitempty"`
}

// Text is a tool result of one text.
func Text(text string) ToolResult { return ToolResult{Content: []Content{{Type: "text", Text: text}}} }

// MarshalJSON writes what is there: a text part has its text, also an empty one, and content is a
// list, also an empty one.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	type plain ToolResult
	if r.Content == nil {
		r.Content = []Content{}
	}
	return json.Marshal(plain(r))
}

// MarshalJSON: see ToolResult.MarshalJSON.
func (c Content) MarshalJSON() ([]byte, error) {
	type plain Content
	if c.Type != "text" {
		return json.Marshal(plain(c))
	}
	return json.Marshal(struct {
		plain
		Text string `json:"text"`
	}{plain(c), c.Text})
}

// UnmarshalJSON: see ToolResult.
func (r *ToolResult) UnmarshalJSON(text []byte) error {
	type plain ToolResult
	into := struct {
		*plain
		Structured json.RawMessage `json:"structured"`
	}{plain: (*plain)(r)}
	if err := exactly(text, &into); err != nil {
		return err
	}
	if into.Structured != nil && string(into.Structured) != "null" {
		r.Structured = into.Structured
	}
	return nil
}

// UnmarshalJSON: see ToolResult.
func (c *Content) UnmarshalJSON(text []byte) error {
	type plain Content
	return exactly(text, (*plain)(c))
}

func exactly(text []byte, into any) error {
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	return from.Decode(into)
}

// FirstText is the text of the first part that is one, or "".
func (r ToolResult) FirstText() string {
	for _, part := range r.Content {
		if part.Type == "text" {
			return part.Text
		}
	}
	return ""
}

// text is a handler's value as the JSON that answers.
func (v *serverState) text(answer any) ([]byte, error) {
	switch value := answer.(type) {
	case json.RawMessage:
		return value, nil
	case []byte:
		return value, nil
	case string:
		if v.isTool {
			return jsonOf(Text(value), "the answer")
		}
	case nil:
		if v.isTool {
			return jsonOf(ToolResult{}, "the answer")
		}
		return []byte("null"), nil
	case ToolResult, *ToolResult:
		return jsonOf(value, "the answer")
	}
	text, err := jsonOf(answer, "the answer")
	if err != nil || !v.isTool {
		return text, err
	}
	result := Text(string(text))
	result.Structured = json.RawMessage(text)
	return jsonOf(result, "the answer")
}
