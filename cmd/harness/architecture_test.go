package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImportsGoOneWay holds the arrows of the architecture: cmd/harness →
// reports → scenarios → bucket, and what each may know of Redis.
func TestImportsGoOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "bucketproof/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	under := func(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }
	const module, goRedis, containers = "bucketproof", "github.com/redis/go-redis", "github.com/testcontainers"
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 10 {
		t.Fatalf("go list shows %d packages, want all of the module's", len(lines))
	}
	for _, line := range lines {
		pkg, imports, _ := strings.Cut(line, " ")
		for _, dep := range strings.Fields(imports) {
			var why string
			switch {
			case pkg == module+"/bucket" && strings.Contains(dep, "."):
				why = "package bucket needs only the standard library"
			case under(pkg, module+"/bucket") && (under(dep, module+"/scenarios") || under(dep, module+"/reports")):
				why = "nothing under bucket knows scenarios or reports"
			case under(pkg, module+"/scenarios") && under(dep, module+"/reports"):
				why = "nothing under scenarios knows reports"
			case under(pkg, module+"/scenarios") && under(dep, goRedis):
				why = "scenarios see of Redis what bucket/backend offers"
			case under(pkg, module+"/reports") && under(dep, goRedis):
				why = "reports see nothing of Redis"
			case under(dep, containers) && pkg != module+"/bucket/backend":
				why = "containers are bucket/backend's alone"
			case under(dep, module+"/cmd"):
				why = "nothing imports a command"
			}
			if why != "" {
				t.Errorf("%s imports %s: %s", pkg, dep, why)
			}
		}
	}
}
