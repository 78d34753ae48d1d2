//go:build conformance

package assistant

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// conformanceMode is how the build for the conformance suite serves /mcp:
// "stateless" as a release does, "sessions" with the sessions that revisions
// before 2026-07-28 need for requests from the server to the client. Unset, it
// asks for a token.
const conformanceMode = "ADLENS_CONFORMANCE"

// AdmitsWithoutToken reports whether /mcp answers requests that have no token:
// where the environment says that the suite is asking.
func AdmitsWithoutToken() bool { return os.Getenv(conformanceMode) != "" }

// prepareOptions lets clients complete arguments and subscribe to resources,
// which the suite tries and adlens does not offer.
func prepareOptions(o *mcp.ServerOptions) {
	o.Capabilities = nil // the SDK then infers them, logging included
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
	}
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
}

// PrepareTransport turns sessions on where the environment says so.
func PrepareTransport(o *mcp.StreamableHTTPOptions) {
	if os.Getenv(conformanceMode) == "sessions" {
		o.Stateless = false
	}
}

// addFixtures adds the tools, resources and prompts that the scenarios of the
// conformance suite ask for by name.
func addFixtures(s *mcp.Server) {
	addContentTools(s)
	addNotifyingTools(s)
	addAskingTools(s)
	addSchemaTools(s)
	addInputTools(s)
	addResources(s)
	addPrompts(s)
}

// A pixel, and a twentieth of a second of silence.
var (
	pixel   = decodeFixture("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	silence = append([]byte("RIFF\x25\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00"), 0x80)
)

func decodeFixture(text string) []byte {
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return decoded
}

type jsonObject = map[string]any

// objectOf is the schema of an object that has these properties.
func objectOf(properties jsonObject, required ...string) jsonObject {
	schema := jsonObject{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// addFixture adds a tool that takes any object.
func addFixture(s *mcp.Server, name string, call mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{Name: name, Description: "For the conformance suite.", InputSchema: jsonObject{"type": "object"}}, call)
}

func fixtureText(format string, values ...any) *mcp.TextContent {
	return &mcp.TextContent{Text: fmt.Sprintf(format, values...)}
}

func resultOf(content ...mcp.Content) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: content}, nil
}

func embedText(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded text."}}
}

// addContentTools adds tools that answer with one kind of content, or fail.
func addContentTools(s *mcp.Server) {
	image := &mcp.ImageContent{MIMEType: "image/png", Data: pixel}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":            {fixtureText("This is a simple text response for testing.")},
		"test_image_content":          {image},
		"test_audio_content":          {&mcp.AudioContent{MIMEType: "audio/wav", Data: silence}},
		"test_embedded_resource":      {embedText("test://embedded-resource")},
		"test_multiple_content_types": {fixtureText("Text, an image and a resource."), image, embedText("test://mixed-content-resource")},
		"test_streaming_elicitation":  {fixtureText("Only results and notifications are in this stream.")},
	} {
		addFixture(s, name, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return resultOf(content...) })
	}
	addFixture(s, "test_error_handling", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{fixtureText("This tool intentionally returns an error for testing")}}, nil
	})
}

// pause is between notifications, which the suite must see one by one.
const pause = 20 * time.Millisecond

// addNotifyingTools adds tools that send notifications before their result.
func addNotifyingTools(s *mcp.Server) {
	logTimes := func(times int) mcp.ToolHandler {
		return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range times {
				if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprintf("message %d", i+1)}); err != nil {
					return nil, err
				}
				time.Sleep(pause)
			}
			return resultOf(fixtureText("logged"))
		}
	}
	addFixture(s, "test_tool_with_logging", logTimes(3))
	addFixture(s, "test_logging_tool", logTimes(1))
	addFixture(s, "test_tool_with_progress", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := r.Params.GetProgressToken()
		for _, progress := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: 100}); err != nil {
				return nil, err
			}
			time.Sleep(pause)
		}
		return resultOf(fixtureText("%v", token))
	})
	addFixture(s, "test_reconnection", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: pause})
		}
		time.Sleep(5 * pause)
		return resultOf(fixtureText("reconnected"))
	})
	// Adding a tool or a prompt again is a change that subscribers hear of.
	addFixture(s, "test_trigger_tool_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addFixture(s, "test_changed", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return resultOf() })
		return resultOf(fixtureText("changed"))
	})
	addFixture(s, "test_trigger_prompt_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "test_changed", Description: "For the conformance suite."}, promptOf(fixtureText("changed")))
		return resultOf(fixtureText("changed"))
	})
}

// addAskingTools adds tools that send requests to the client, as revisions
// before 2026-07-28 have it.
func addAskingTools(s *mcp.Server) {
	addFixture(s, "test_sampling", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Prompt string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		answer, err := r.Session.CreateMessage(ctx, askModel(in.Prompt))
		if err != nil {
			return nil, err
		}
		return resultOf(fixtureText("LLM response: %s", answer.Content.(*mcp.TextContent).Text))
	})
	elicit := func(schema jsonObject) mcp.ToolHandler {
		return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please fill this in.", RequestedSchema: schema})
			if err != nil {
				return nil, err
			}
			return resultOf(fixtureText("action %s, content %v", answer.Action, answer.Content))
		}
	}
	addFixture(s, "test_elicitation", elicit(objectOf(jsonObject{"username": jsonObject{"type": "string"}, "email": jsonObject{"type": "string"}}, "username", "email")))
	addFixture(s, "test_elicitation_sep1034_defaults", elicit(objectOf(jsonObject{
		"name":     jsonObject{"type": "string", "default": "John Doe"},
		"age":      jsonObject{"type": "integer", "default": 30},
		"score":    jsonObject{"type": "number", "default": 95.5},
		"status":   jsonObject{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": jsonObject{"type": "boolean", "default": true},
	})))
	options := []string{"option1", "option2", "option3"}
	titled := []jsonObject{{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}}
	addFixture(s, "test_elicitation_sep1330_enums", elicit(objectOf(jsonObject{
		"untitledSingle": jsonObject{"type": "string", "enum": options},
		"titledSingle":   jsonObject{"type": "string", "oneOf": titled},
		"legacyEnum":     jsonObject{"type": "string", "enum": []string{"opt1", "opt2"}, "enumNames": []string{"Option One", "Option Two"}},
		"untitledMulti":  jsonObject{"type": "array", "items": jsonObject{"type": "string", "enum": options}},
		"titledMulti":    jsonObject{"type": "array", "items": jsonObject{"anyOf": titled}},
	})))
}

// addSchemaTools adds tools whose schema, or whose demand on the client, is
// what the suite looks at.
func addSchemaTools(s *mcp.Server) {
	echo := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return resultOf(fixtureText("%s", r.Params.Arguments))
	}
	s.AddTool(&mcp.Tool{Name: "json_schema_2020_12_tool", Description: "Has the vocabulary of JSON Schema 2020-12.", InputSchema: json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"},
			"address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]},
			"phone": {"type": "string"},
			"email": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]},
		"else": {"required": ["email"]},
		"additionalProperties": false}`)}, echo)
	s.AddTool(&mcp.Tool{Name: "test_x_mcp_header", Description: "Has an argument that clients repeat in a header.",
		InputSchema: objectOf(jsonObject{"region": jsonObject{"type": "string", "x-mcp-header": "Region"}, "level": jsonObject{"type": "integer"}})}, echo)
	addFixture(s, "test_missing_capability", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if can := r.ClientCapabilities(); can != nil && can.Sampling != nil {
			return resultOf(fixtureText("The client can sample."))
		}
		data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client must be able to sample", Data: data}
	})
}

func askModel(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: fixtureText("%s", prompt)}}}
}

// askUser asks for one required property.
func askUser(property, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Please say your " + property + ".", RequestedSchema: objectOf(jsonObject{property: jsonObject{"type": kind}}, property)}
}

// accepted is the property that the user gave, or nil.
func accepted(given mcp.InputResponseMap, request, property string) any {
	if answer, ok := given[request].(*mcp.ElicitResult); ok && answer.Action == "accept" {
		return answer.Content[property]
	}
	return nil
}

// sampled is the text that the client's model answered, or nothing.
func sampled(given mcp.InputResponseMap, request string) string {
	var texts []string
	if answer, ok := given[request].(*mcp.CreateMessageWithToolsResult); ok {
		for _, content := range answer.Content {
			if text, ok := content.(*mcp.TextContent); ok {
				texts = append(texts, text.Text)
			}
		}
	}
	return strings.Join(texts, " ")
}

// addInputTools adds tools that need more input before they can answer, as
// revision 2026-07-28 has it: each names what it asks for until all is there.
func addInputTools(s *mcp.Server) {
	const state = "issued"
	user, model, roots := askUser("name", "string"), askModel("Please greet."), &mcp.ListRootsParams{}
	add := func(name, state string, asks mcp.InputRequestMap, answer func(mcp.InputResponseMap) string) {
		addFixture(s, name, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if got := r.Params.RequestState; got != "" && got != state {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was not issued here"}
			}
			if text := answer(r.Params.InputResponses); text != "" {
				return resultOf(fixtureText("%s", text))
			}
			return &mcp.CallToolResult{InputRequests: asks, RequestState: state}, nil
		})
	}
	greet := func(given mcp.InputResponseMap) string {
		if name, _ := accepted(given, "user_name", "name").(string); name != "" {
			return "Hello, " + name
		}
		return ""
	}
	confirm := func(given mcp.InputResponseMap) string {
		if accepted(given, "confirm", "ok") != nil {
			return "state-ok"
		}
		return ""
	}
	list := func(given mcp.InputResponseMap) string {
		if answer, ok := given["client_roots"].(*mcp.ListRootsResult); ok {
			return fmt.Sprintf("%d roots", len(answer.Roots))
		}
		return ""
	}
	add("test_input_required_result_elicitation", "", mcp.InputRequestMap{"user_name": user}, greet)
	add("test_input_required_result_sampling", "", mcp.InputRequestMap{"capital_question": model},
		func(given mcp.InputResponseMap) string { return sampled(given, "capital_question") })
	add("test_input_required_result_list_roots", "", mcp.InputRequestMap{"client_roots": roots}, list)
	add("test_input_required_result_request_state", state, mcp.InputRequestMap{"confirm": askUser("ok", "boolean")}, confirm)
	add("test_input_required_result_tampered_state", state, mcp.InputRequestMap{"confirm": askUser("ok", "boolean")}, confirm)
	add("test_input_required_result_multiple_inputs", state, mcp.InputRequestMap{"user_name": user, "greeting": model, "client_roots": roots},
		func(given mcp.InputResponseMap) string {
			parts := []string{greet(given), sampled(given, "greeting"), list(given)}
			for _, part := range parts {
				if part == "" {
					return ""
				}
			}
			return strings.Join(parts, ", ")
		})
	addFixture(s, "test_input_required_result_multi_round", askTwice)
	addFixture(s, "test_input_required_result_capabilities", askWithinCapabilities)
}

// askTwice keeps the first answer in the state while it asks for the second.
func askTwice(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := r.Params.InputResponses
	switch name, second := strings.CutPrefix(r.Params.RequestState, "second:"); {
	case second:
		return resultOf(fixtureText("%s likes %v", name, accepted(given, "step2", "color")))
	case r.Params.RequestState == "first":
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"step2": askUser("color", "string")},
			RequestState: fmt.Sprintf("second:%v", accepted(given, "step1", "name"))}, nil
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"step1": askUser("name", "string")}, RequestState: "first"}, nil
}

// askWithinCapabilities asks for all that the client says it can give.
func askWithinCapabilities(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	asks, can := mcp.InputRequestMap{}, r.ClientCapabilities()
	if can != nil && can.Elicitation != nil {
		asks["user_name"] = askUser("name", "string")
	}
	if can != nil && can.Sampling != nil {
		asks["greeting"] = askModel("Please greet.")
	}
	if can != nil && can.RootsV2 != nil {
		asks["client_roots"] = &mcp.ListRootsParams{}
	}
	if len(asks) == 0 || len(r.Params.InputResponses) > 0 {
		return resultOf(fixtureText("Nothing else is needed."))
	}
	return &mcp.CallToolResult{InputRequests: asks}, nil
}

// addResources adds a text, a binary, one that clients subscribe to, and a
// template.
func addResources(s *mcp.Server) {
	for _, contents := range []mcp.ResourceContents{
		{URI: "test://static-text", MIMEType: "text/plain", Text: "A text that never changes."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: pixel},
		{URI: "test://watched-resource", MIMEType: "text/plain", Text: "A text that clients watch."},
	} {
		s.AddResource(&mcp.Resource{URI: contents.URI, Name: strings.TrimPrefix(contents.URI, "test://"), Description: "For the conformance suite.", MIMEType: contents.MIMEType},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&contents}}, nil
			})
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "For the conformance suite.", MIMEType: "application/json"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: r.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id": %q}`, id)}}}, nil
		})
}

func promptOf(contents ...mcp.Content) mcp.PromptHandler {
	var messages []*mcp.PromptMessage
	for _, content := range contents {
		messages = append(messages, &mcp.PromptMessage{Role: "user", Content: content})
	}
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: messages}, nil
	}
}

// addPrompts adds prompts with and without arguments, and one that needs more
// input.
func addPrompts(s *mcp.Server) {
	add := func(name string, get mcp.PromptHandler, arguments ...string) {
		p := &mcp.Prompt{Name: name, Description: "For the conformance suite."}
		for _, argument := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: argument, Description: "Any text.", Required: true})
		}
		s.AddPrompt(p, get)
	}
	add("test_simple_prompt", promptOf(fixtureText("This is a simple prompt for testing.")))
	add("test_prompt_with_image", promptOf(&mcp.ImageContent{MIMEType: "image/png", Data: pixel}, fixtureText("What is in this image?")))
	add("test_prompt_with_arguments", func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return promptOf(fixtureText("arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"]))(ctx, r)
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return promptOf(embedText(r.Params.Arguments["resourceUri"]), fixtureText("What is in this resource?"))(ctx, r)
	}, "resourceUri")
	add("test_input_required_result_prompt", func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if given := accepted(r.Params.InputResponses, "user_context", "context"); given != nil {
			return promptOf(fixtureText("Context: %v", given))(ctx, r)
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": askUser("context", "string")}}, nil
	})
}
