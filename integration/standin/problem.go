package standin

import (
	"fmt"
	"strconv"
)

// Shape is one of the three forms in which the platform says what is wrong.
type Shape int

// The shapes: reporting writes Detail, the general model Details with a
// request id, the gateway in front of both Message.
const (
	Detail Shape = iota
	Details
	Message
)

// The gateway's word for a token that it does not take.
const invalidToken = "Unauthorized exception while handling 3P Request: Invalid token"

func (s Shape) errorBody(status int, text string) map[string]any {
	switch s {
	case Detail:
		return map[string]any{"code": strconv.Itoa(status), "detail": text}
	case Details:
		return map[string]any{"code": strconv.Itoa(status), "details": text, "requestId": "STANDIN0REQUEST"}
	default:
		return map[string]any{"message": text}
	}
}

func refuseCall(status int, shape Shape, format string, values ...any) reply {
	return reply{status: status, body: shape.errorBody(status, fmt.Sprintf(format, values...))}
}
