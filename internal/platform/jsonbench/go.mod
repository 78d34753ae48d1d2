// The decoders that the reader of rows is measured against. They are a module
// of their own, so that the program does not depend on them.
module adlens/internal/platform/jsonbench

go 1.26.0

require (
	adlens v0.0.0
	github.com/bytedance/sonic v1.15.0
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/goccy/go-json v0.10.5
	github.com/minio/simdjson-go v0.4.5
)

require (
	github.com/bytedance/gopkg v0.1.3 // indirect
	github.com/bytedance/sonic/loader v0.5.0 // indirect
	github.com/cloudwego/base64x v0.1.6 // indirect
	github.com/klauspost/compress v1.19.1 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/twitchyliquid64/golang-asm v0.15.1 // indirect
	golang.org/x/arch v0.22.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace adlens => ../../..
