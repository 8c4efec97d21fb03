package record

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// bootID is a UUID of the kernel's form (version 4) that follows from the seed, the host and the number of its boot.
func bootID(seed uint64, host string, boot int) string {
	text := binary.BigEndian.AppendUint64([]byte(host+"\x00"), seed)
	digest := sha256.Sum256(binary.BigEndian.AppendUint64(text, uint64(boot)))
	id := uuid.UUID(digest[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}
