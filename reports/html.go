package reports

import (
	"bytes"
	_ "embed" // the template and what it holds
	"fmt"
	"html/template"

	"bucketproof/reports/plot"
)

var (
	//go:embed templates/report.html.tmpl
	reportTemplate string
	//go:embed templates/report.css
	reportStyle string
	//go:embed templates/report.js
	reportScript string
)

// html renders r as one file that needs nothing else.
func html(r *Report, g gallery) ([]byte, error) {
	t, err := template.New("report.html").Funcs(template.FuncMap{
		"name": state.name, "words": state.words, "harm": state.harm, "aboutPicture": func() string { return aboutPicture },
	}).Parse(reportTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse page template: %w", err)
	}
	p := newPage(r, g)
	p.Light, p.Dark = template.CSS(plot.Variables(false)), template.CSS(plot.Variables(true))
	p.Style, p.Script = template.CSS(reportStyle), template.JS(reportScript)
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return cleanLines(b.Bytes()), nil
}
