package backup

import "context"

// Copy hands rows of a database on in the blocks in which they are inserted
// elsewhere, and returns how many there were.
func Copy(ctx context.Context, from Source, e Extent, h Header, keep func(*Block) error) (rows uint64, err error) {
	b := newBlock(h, e.Account)
	err = from.Export(ctx, e, h, func(row []byte) error {
		if b.Rows == blockRows || b.bytes > blockBytes {
			if err := keep(b); err != nil {
				return err
			}
			b = newBlock(h, e.Account)
		}
		rows++
		_, err := b.addRow(row)
		return err
	})
	if err != nil || b.Rows == 0 {
		return rows, err
	}
	return rows, keep(b)
}
