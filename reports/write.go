package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"bucketproof/bucket/history"
)

// Loader returns the operations of a run in order of their calls: from memory
// after a run, from its history file later. It must be safe for concurrent
// use. An error leaves the page without that run's picture, and says so there.
type Loader func(run Run) ([]history.Operation, error)

// Write puts the report into the folder dir, which it creates when needed:
// results.json first, then junit.xml, report.md, the plots and report.html.
// Every file is complete or not there at all. With a nil load no run is drawn.
func Write(dir string, r *Report, load Loader) error {
	return write(dir, r, load, true)
}

// write is Write, with or without PNG images.
func write(dir string, r *Report, load Loader, images bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	r = complete(r)
	results, err := marshal(r)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, resultsFile), err)
	}
	if err := replace(filepath.Join(dir, resultsFile), results); err != nil {
		return err
	}
	suites, err := junit(r)
	if err != nil {
		return err
	}
	if err := writeAll(dir, []output{{"junit.xml", suites}, {"report.md", markdown(r)}}); err != nil {
		return err
	}
	pictures, err := draw(dir, r, load, images)
	if err != nil {
		return err
	}
	page, err := html(r, pictures)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, "report.html"), page)
}

// marshal writes results.json: indented, with < and & as they are.
func marshal(r *Report) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return b.Bytes(), nil
}

// complete is r with its version and with empty lists in place of missing
// ones, so that readers find [] and {} where the schema says so. r itself
// stays as it is.
func complete(r *Report) *Report {
	c := *r
	c.SchemaVersion = SchemaVersion
	c.Runs = append([]Run{}, r.Runs...)
	c.Skipped = append([]Skip{}, r.Skipped...)
	c.Unmet = append([]Unmet{}, r.Unmet...)
	c.Capacity = completeCapacity(r.Capacity)
	if r.Selftest != nil {
		selftest := *r.Selftest
		selftest.Controls = append([]ControlResult{}, selftest.Controls...)
		c.Selftest = &selftest
	}
	for i := range c.Runs {
		run := &c.Runs[i]
		run.Instances = append([]Instance{}, run.Instances...)
		run.Checks = append([]Check{}, run.Checks...)
		for j := range run.Checks {
			if run.Checks[j].Value == nil {
				run.Checks[j].Value = map[string]float64{}
			}
		}
	}
	return &c
}
