package diff

import "encoding/binary"

// The numbers of fields of a profile, as in profile.proto.
const (
	fieldSample = 2
	fieldString = 6
	// fieldLabel is in a sample.
	fieldLabel = 3
)

// parsedSize returns about how many bytes a profile takes when it is parsed: a message of two
// bytes becomes a structure of a hundred, and a label entries of three maps. It is false if the
// text is damaged.
func parsedSize(text []byte) (size uint64, ok bool) {
	const structure, label, each = 128, 256, 16 // of an identifier or a value, which has a byte at least
	ok = fields(text, func(number uint64, content []byte) bool {
		switch number {
		case fieldString:
			size += structure + uint64(len(content))
			return true
		case fieldSample:
			if !fields(content, func(number uint64, _ []byte) bool {
				if number == fieldLabel {
					size += label
				}
				return true
			}) {
				return false
			}
		}
		size += structure + each*uint64(len(content))
		return true
	})
	return size, ok
}

// fields calls f with the number of each field of a message of protocol buffers, and with its
// content if that is of bytes. It is false where the message is damaged, or f is.
func fields(text []byte, f func(number uint64, content []byte) bool) bool {
	const varint, fixed64, bytes, fixed32 = 0, 1, 2, 5
	for len(text) > 0 {
		tag, n := binary.Uvarint(text)
		if n <= 0 {
			return false
		}
		text = text[n:]
		var content []byte
		switch tag & 7 {
		case varint:
			_, n = binary.Uvarint(text)
		case fixed64:
			n = 8
		case fixed32:
			n = 4
		case bytes:
			var length uint64
			if length, n = binary.Uvarint(text); n <= 0 || length > uint64(len(text)-n) {
				return false
			}
			content = text[n : n+int(length)]
			n += int(length)
		default:
			return false
		}
		if n <= 0 || n > len(text) || !f(tag>>3, content) {
			return false
		}
		text = text[n:]
	}
	return true
}
