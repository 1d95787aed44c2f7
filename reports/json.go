package reports

import (
	"fmt"
	"io"
)

// JSON writes r as it stands in results.json.
func JSON(w io.Writer, r *Report) error {
	data, err := marshal(complete(r))
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
