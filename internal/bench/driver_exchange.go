package bench

import "cmp"

// Exchange is messages that a process and its peer in another network namespace send each
// other over a veth pair. Each one is answered.
type Exchange struct {
	// Protocol is tcp or udp. The default is what the program's hook sees.
	Protocol Protocol `yaml:"protocol"`
	// Size is the size of a message and of its answer, in bytes (default 64).
	Size int `yaml:"size"`
	// Count is the number of messages per round (default 500).
	Count int `yaml:"count"`
	// Port is the port that messages are sent to (default 7, echo).
	Port int `yaml:"port"`
	// IPv6 sends them over IPv6. A hook for only one of the two sets it by itself.
	IPv6 bool `yaml:"ipv6"`
}

// Check implements Settings.
func (e *Exchange) Check(c Checker) {
	c.OneOf("protocol", string(e.Protocol), string(ProtocolTCP), string(ProtocolUDP))
	c.Count("size", e.Size, 1400)
	c.Count("count", e.Count, 1_000_000)
	c.Count("port", e.Port, 39_999)
}

// SetDefaults implements Settings.
func (e *Exchange) SetDefaults() {
	e.Size = cmp.Or(e.Size, 64)
	e.Count = cmp.Or(e.Count, 500)
	e.Port = cmp.Or(e.Port, 7)
}

// Protocol is a transport protocol.
type Protocol string

// The protocols of an exchange.
const (
	ProtocolTCP Protocol = "tcp"
	ProtocolUDP Protocol = "udp"
)
