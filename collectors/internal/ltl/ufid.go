package ltl

import "fmt"

func formatUFID(k key) string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", k[0]>>32, k[0]>>16&0xffff, k[0]&0xffff, k[1]>>48, k[1]&0xffffffffffff)
}

// parseUFID reads 32 hexadecimal digits; hyphens between them are passed over. As Open vSwitch writes it, with hyphens after 8, 12, 16 and
// 20 digits, eight digits are read at a time.
func parseUFID(text string) (key, bool) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return parseDigits(text)
	}
	a, bad := eightDigits(four(text[0:4])<<32 | four(text[4:8]))
	b, more := eightDigits(four(text[9:13])<<32 | four(text[14:18]))
	bad |= more
	c, more := eightDigits(four(text[19:23])<<32 | four(text[24:28]))
	bad |= more
	d, more := eightDigits(four(text[28:32])<<32 | four(text[32:36]))
	return key{a<<32 | b, c<<32 | d}, bad|more == 0
}

// four is four characters as a number, the first one on top. Written so, the compiler makes one load of it.
func four(text string) uint64 {
	return uint64(uint32(text[3]) | uint32(text[2])<<8 | uint32(text[1])<<16 | uint32(text[0])<<24)
}

const each = 0x0101010101010101 // times a byte: that byte in all eight places

// eightDigits is the value of eight characters, and not 0 when some of them is no hexadecimal digit in lower case. A character 0 to 9 is
// 0x30 plus its value, a to f is 0x60 plus its value less 9.
func eightDigits(characters uint64) (value, bad uint64) {
	letter := characters >> 6 & each
	low := characters & (0x0f * each)
	bad = characters&(0xf0*each) ^ 0x30*(each+letter)    // above the digit: 3, or 6 of a letter
	bad |= (low + 6*each + 3*letter) & (0x10 * each)     // beyond 9, or beyond f
	bad |= ((low+0x0f*letter)>>4&each ^ letter) & letter // a letter before a
	value = low + 9*letter
	value = (value | value>>4) & 0x00ff00ff00ff00ff
	value = (value | value>>8) & 0x0000ffff0000ffff
	return (value | value>>16) & 0xffffffff, bad
}

// digits are the values of hexadecimal digits; 0xff is none.
var digits = func() (table [256]uint8) {
	for i := range table {
		table[i] = 0xff
	}
	for i, c := range "0123456789abcdef" {
		table[c] = uint8(i) // #nosec G115 -- 0 to 15
	}
	return table
}()

func parseDigits(text string) (key, bool) {
	var k key
	count := 0
	for i := range len(text) {
		digit := digits[text[i]]
		if digit == 0xff {
			if text[i] != '-' {
				return key{}, false
			}
			continue
		}
		half := &k[count>>4&1]
		*half = *half<<4 | uint64(digit)
		count++
	}
	return k, count == 32
}
