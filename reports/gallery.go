package reports

import (
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
)

// output is a file to write, its name relative to the result folder.
type output struct {
	name string
	data []byte
}

// gallery is all pictures of a report.
type gallery struct {
	runs      []picture
	scenarios map[string][]template.HTML // latencies and sweeps, by scenario without its point
	study     []studyPicture
	capacity  []studyPicture
}

// draw makes all pictures and writes their files into dir, several at a time.
// Without load there are none but those of figures in the report. Pictures of
// an earlier report in the same folder go away. Images are PNG files beside
// the SVG ones.
func draw(dir string, r *Report, load Loader, images bool) (gallery, error) {
	g := gallery{runs: make([]picture, len(r.Runs)), scenarios: make(map[string][]template.HTML)}
	if err := os.MkdirAll(filepath.Join(dir, plots), 0o755); err != nil {
		return g, fmt.Errorf("create %s: %w", filepath.Join(dir, plots), err)
	}
	plans := plan(r)
	written := make([][]output, len(plans))
	if load != nil {
		err := parallel(len(plans), func(i int) (err error) {
			plans[i].png = plans[i].png && images
			g.runs[i], written[i], err = plans[i].draw(load)
			if err != nil {
				return err
			}
			return writeAll(dir, written[i])
		})
		if err != nil {
			return g, err
		}
	}
	rest := append(sweepPages(r), latencyPages(r, g.runs)...)
	rest = append(rest, studyPages(r, g.runs)...)
	rest = append(rest, capacityPages(r)...)
	if len(r.Runs)+len(r.Skipped) > 0 {
		rest = append(rest, page{name: "matrix", figure: matrixFigure(r)})
	}
	others := make([][]output, len(rest))
	inline := make([]template.HTML, len(rest))
	err := parallel(len(rest), func(i int) (err error) {
		others[i], err = rest[i].files(images)
		inline[i] = rest[i].inline()
		if err != nil {
			return err
		}
		return writeAll(dir, others[i])
	})
	if err != nil {
		return g, err
	}
	for i, p := range rest {
		switch {
		case p.study:
			g.study = append(g.study, p.picture(inline[i]))
		case p.capacity:
			g.capacity = append(g.capacity, p.picture(inline[i]))
		case p.scenario != "":
			g.scenarios[p.scenario] = append(g.scenarios[p.scenario], inline[i])
		}
	}
	if load == nil {
		return g, nil
	}
	return g, prune(dir, kept(plans, g.runs, append(written, others...)))
}

// plots is the folder of the pictures.
const plots = "plots"

// kept names the pictures that belong to a report: those just written, and
// those of runs whose history is gone, which nobody could draw again.
func kept(plans []drawing, pics []picture, written [][]output) map[string]bool {
	names := make(map[string]bool)
	for _, files := range written {
		for _, f := range files {
			names[filepath.Base(f.name)] = true
		}
	}
	for i, d := range plans {
		if pics[i].warning != "" {
			for _, ending := range []string{"-envelope.svg", "-envelope.png", "-shares.svg"} {
				names[d.name+ending] = true
			}
			if d.growth != "" {
				names[d.growth+".svg"], names[d.growth+".png"] = true, true
			}
		}
	}
	return names
}

// ours are the names that pictures get here; nothing else is ever removed.
var ours = regexp.MustCompile(`-(envelope|shares|latency(-\d+)?|sweep(-\d+)?|study(-\d+)?|capacity)\.(svg|png)$`)

// prune removes pictures that are not kept: they show another run.
func prune(dir string, keep map[string]bool) error {
	entries, err := os.ReadDir(filepath.Join(dir, plots))
	if err != nil {
		return fmt.Errorf("list plots: %w", err)
	}
	for _, e := range entries {
		if keep[e.Name()] || !ours.MatchString(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, plots, e.Name())); err != nil {
			return fmt.Errorf("remove old plot: %w", err)
		}
	}
	return nil
}

func writeAll(dir string, files []output) error {
	for _, f := range files {
		if err := replace(filepath.Join(dir, filepath.FromSlash(f.name)), f.data); err != nil {
			return err
		}
	}
	return nil
}
