package blocks

import (
	"encoding/json"
	"math"
	"strconv"
)

// sendable says whether JSON has a form for a value. Telegraf leaves out the others too.
func sendable(value any) bool {
	number, isFloat := value.(float64)
	return !isFloat || !math.IsNaN(number) && !math.IsInf(number, 0)
}

// appendValue writes a field's value as encoding/json does.
func appendValue(out []byte, value any) []byte {
	switch v := value.(type) {
	case int64:
		return strconv.AppendInt(out, v, 10)
	case uint64:
		return strconv.AppendUint(out, v, 10)
	case string:
		return AppendText(out, v)
	case bool:
		return strconv.AppendBool(out, v)
	}
	encoded, err := json.Marshal(value)
	if err != nil { // no such value is in a metric
		return append(out, "null"...)
	}
	return append(out, encoded...)
}

// AppendText writes a text.
func AppendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			encoded, _ := json.Marshal(text) // a string always can be encoded
			return append(out, encoded...)
		}
	}
	out = append(append(out, '"'), text...)
	return append(out, '"')
}
