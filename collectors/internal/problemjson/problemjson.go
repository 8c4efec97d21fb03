// Package problemjson reads the error bodies (RFC 9457) of Wallwatch's server.
package problemjson

import (
	"encoding/json"
	"fmt"
)

// Summary returns the code and the detail of an error body on one line, or "" where it has neither.
func Summary(body []byte) string {
	var problem struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &problem) != nil || problem.Code+problem.Detail == "" {
		return ""
	}
	return fmt.Sprintf("%s: %q", problem.Code, problem.Detail)
}
