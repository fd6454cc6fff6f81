package bench

// Veth attaches a program to a veth pair and sends packets from one end to the other.
type Veth struct {
	// Mode is how the program is attached. The default follows from its type and section:
	// native, tc or tcx.
	Mode VethMode `yaml:"mode"`
	// Direction is where a tc program is attached: to the ingress of the end that receives
	// the packets (default), or to the egress of the end that sends them.
	Direction Hook `yaml:"direction"`
	// Sender is what produces the packets: live_frames (Linux 5.18, for XDP), af_packet,
	// or empty for the fastest that the kernel has.
	Sender string `yaml:"sender"`
	// Packets are sent in turn, an equal share of Count each.
	Packets []Packet `yaml:"packets"`
	// Count is the number of packets per round (default 20,000 for an XDP program, else
	// 2,000).
	Count int `yaml:"count"`
}

// Check implements Settings.
func (v *Veth) Check(c Checker) {
	c.OneOf("mode", string(v.Mode), string(XDPNative), string(XDPGeneric), string(TC), string(TCX))
	c.OneOf("direction", string(v.Direction), string(Ingress), string(Egress))
	if v.Direction == Egress && v.Mode != "" && !v.Mode.IsTC() {
		c.Under("direction").Errorf("mode %s has no egress: xdp programs see what comes in", v.Mode)
	}
	if v.Sender == "live_frames" && v.Mode.IsTC() {
		c.Under("sender").Errorf("live_frames reach xdp programs only: tc programs get packets by af_packet")
	}
	c.OneOf("sender", v.Sender, "live_frames", "af_packet")
	c.Count("count", v.Count, 10_000_000)
	c.Packets("packets", v.Packets)
}

// SetDefaults implements Settings. The defaults depend on the program's type.
func (v *Veth) SetDefaults() {}

// VethMode is how a program is attached to an end of a veth pair.
type VethMode string

// The modes: XDP in the driver or in the network stack, tc by a filter of the
// clsact qdisc or by a link (Linux 6.6).
const (
	XDPNative  VethMode = "native"
	XDPGeneric VethMode = "generic"
	TC         VethMode = "tc"
	TCX        VethMode = "tcx"
)

// IsTC reports whether the mode is one for tc programs.
func (m VethMode) IsTC() bool { return m == TC || m == TCX }

// Hook is the direction of the packets that a tc program sees.
type Hook string

// The hooks of tc.
const (
	Ingress Hook = "ingress"
	Egress  Hook = "egress"
)
