package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reword says in other words what encoding/json refuses: its own are about the
// types of a program that reads the document.
func Reword(err error) error {
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the document ends before it is complete")
	case errors.As(err, &mistyped):
		what := "a value"
		if keys := keysOnly(mistyped.Field); keys != "" {
			what = keys
		}
		return fmt.Errorf("%s is %s, not %s", what, article(mistyped.Value), kindOf(mistyped.Type))
	}
	return err
}

// keysOnly returns the path of a field without embedded structs, which have no
// keys.
func keysOnly(path string) string {
	var keys []string
	for part := range strings.SplitSeq(path, ".") {
		if first, _ := utf8.DecodeRuneInString(part); part != "" && !unicode.IsUpper(first) {
			keys = append(keys, part)
		}
	}
	return strings.Join(keys, ".")
}

// article adds an article to a kind of value, such as "number -5".
func article(value string) string {
	switch {
	case strings.HasPrefix(value, "number "):
		return strings.TrimPrefix(value, "number ")
	case value == "array":
		return "a list"
	case value == "object":
		return "an object"
	case value == "bool":
		return "true or false"
	}
	return "a " + value
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number that fits"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 that fits"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}
