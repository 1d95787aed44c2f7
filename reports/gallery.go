package reports

import (
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"runtime"
	"sync"
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
}

// draw makes all pictures and writes their files into dir, several at a time.
// Without load there are none but the matrix.
func draw(dir string, r *Report, load Loader) (gallery, error) {
	g := gallery{runs: make([]picture, len(r.Runs)), scenarios: make(map[string][]template.HTML)}
	if err := os.MkdirAll(filepath.Join(dir, "plots"), 0o755); err != nil {
		return g, fmt.Errorf("create %s: %w", filepath.Join(dir, "plots"), err)
	}
	plans := plan(r)
	if load != nil {
		err := parallel(len(plans), func(i int) error {
			pic, files, err := plans[i].draw(load)
			if err != nil {
				return err
			}
			g.runs[i] = pic
			return writeAll(dir, files)
		})
		if err != nil {
			return g, err
		}
	}
	rest := append(sweepPages(r), latencyPages(r, g.runs)...)
	rest = append(rest, page{name: "matrix", figure: matrixFigure(r)})
	inline := make([]template.HTML, len(rest))
	err := parallel(len(rest), func(i int) error {
		files, err := rest[i].files()
		inline[i] = rest[i].inline()
		if err != nil {
			return err
		}
		return writeAll(dir, files)
	})
	for i, p := range rest {
		if p.scenario != "" {
			g.scenarios[p.scenario] = append(g.scenarios[p.scenario], inline[i])
		}
	}
	return g, err
}

// parallel calls f(0) … f(n−1), as many at a time as there are processors, and
// returns the error of the lowest index.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				errs[i] = f(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
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
