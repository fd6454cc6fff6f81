package probe

import (
	"io/fs"
	"slices"
	"strings"
)

// hypervisor names the hypervisor of this machine, or returns "".
func hypervisor(root fs.FS, cpuinfo string) string {
	if xen := readText(root, "sys/hypervisor/type"); xen != "" {
		return xen
	}

	flags, isX86 := fields(cpuinfo)["flags"]
	flagged := slices.Contains(strings.Fields(flags), "hypervisor")
	if isX86 && !flagged {
		// The same firmware may run on the bare metal of a cloud.
		return ""
	}
	if name := dmiHypervisor(
		readText(root, "sys/class/dmi/id/sys_vendor"),
		readText(root, "sys/class/dmi/id/product_name"),
	); name != "" {
		return name
	}
	// Small virtual machines have no DMI, but a clock of their hypervisor.
	clocks := readText(root, "sys/devices/system/clocksource/clocksource0/available_clocksource")
	switch {
	case strings.Contains(clocks, "kvm-clock"):
		return "kvm"
	case strings.Contains(clocks, "hyperv"):
		return "hyper-v"
	case flagged:
		return "unknown hypervisor"
	}
	return ""
}

// dmiHypervisors identify virtual machines by the start of the names of their
// vendor and product.
var dmiHypervisors = []struct{ vendor, product, name string }{
	{"QEMU", "", "qemu"},
	{"Red Hat", "KVM", "kvm"},
	{"Amazon EC2", "", "amazon ec2"},
	{"Google", "Google Compute Engine", "google compute engine"},
	{"Microsoft Corporation", "Virtual Machine", "hyper-v"},
	{"VMware", "", "vmware"},
	{"innotek GmbH", "VirtualBox", "virtualbox"},
	{"Xen", "", "xen"},
	{"Parallels", "", "parallels"},
	{"OpenStack", "", "openstack"},
	{"DigitalOcean", "", "digitalocean"},
	{"Hetzner", "vServer", "hetzner"},
	{"Alibaba Cloud", "Alibaba Cloud ECS", "alibaba cloud"},
	{"Apple Inc.", "Apple Virtualization", "apple virtualization"},
	{"BHYVE", "", "bhyve"},
}

func dmiHypervisor(vendor, product string) string {
	if strings.Contains(product, ".metal") {
		return "" // Amazon's name for its machines without a hypervisor
	}
	for _, h := range dmiHypervisors {
		if strings.HasPrefix(vendor, h.vendor) && strings.HasPrefix(product, h.product) {
			return h.name
		}
	}
	return ""
}
