package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"adlens/internal/engine"
)

// completeParts adds the ClickHouse library to a CycloneDX document, and leaves out the
// hashes of the tool that wrote it, which depend on where it was built.
func completeParts(path string, withEngine bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var document struct {
		Schema       json.RawMessage   `json:"$schema"`
		Format       json.RawMessage   `json:"bomFormat"`
		Spec         json.RawMessage   `json:"specVersion"`
		Version      json.RawMessage   `json:"version"`
		Metadata     map[string]any    `json:"metadata"`
		Components   []json.RawMessage `json:"components"`
		Dependencies json.RawMessage   `json:"dependencies,omitempty"`
		Compositions json.RawMessage   `json:"compositions,omitempty"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // what is not known here would be lost
	if err := decoder.Decode(&document); err != nil {
		return fmt.Errorf("%s is no document of cyclonedx-gomod: %w", path, err)
	}
	tools, _ := document.Metadata["tools"].([]any)
	for _, tool := range tools {
		if fields, ok := tool.(map[string]any); ok {
			delete(fields, "hashes")
		}
	}
	if withEngine {
		document.Components = append(document.Components, libraryPart())
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// libraryPart is the engine's library as CycloneDX has it.
func libraryPart() json.RawMessage {
	purl := "pkg:npm/%40chdb/lib-linux-x64-gnu@" + engine.LibraryVersion()
	part, err := json.Marshal(map[string]any{
		"bom-ref": purl, "type": "library", "name": "libchdb.so", "version": engine.LibraryVersion(), "purl": purl,
		"hashes":   []any{map[string]string{"alg": "SHA-256", "content": engine.LibrarySHA256}},
		"licenses": []any{map[string]any{"license": map[string]string{"id": "Apache-2.0"}}},
	})
	if err != nil {
		panic(err) // of texts alone
	}
	return part
}
