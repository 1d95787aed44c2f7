package reports

// The part of the view model that shows a selftest.
type (
	htmlSelftest struct {
		State    state
		Words    string // controls caught, false alarms
		About    string
		Controls []htmlControl
		Alarms   []htmlAlarm
	}
	htmlControl struct {
		State     state
		Name      string
		Link      string // to the run that shows it; "" for none
		Check     string
		StandsFor string
		Threads   string
		Words     string
		Command   string
	}
	htmlAlarm struct{ Words, Link string }
)

func newHTMLSelftest(r *Report) *htmlSelftest {
	view := &htmlSelftest{State: stateOfSelftest(r), Words: caughtWords(r) + "; " + alarmWords(r), About: aboutControls}
	for _, c := range ranked(r) {
		line := htmlControl{
			State: stateOfControl(r, c), Name: c.Name, Check: c.Check, StandsFor: sentence(c.StandsFor), Threads: c.Threads,
			Words: controlWords(r, c), Command: controlCommand(c),
		}
		if i := runOfControl(r, c); i >= 0 {
			line.Link = runID(i)
		}
		view.Controls = append(view.Controls, line)
	}
	names := alarmNames(r)
	for n, i := range falseAlarms(r) {
		view.Alarms = append(view.Alarms, htmlAlarm{names[n], runID(i)})
	}
	return view
}
