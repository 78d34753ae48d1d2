//go:build linux

#include "textflag.h"

// These are open, write and fdatasync of the library, in C's calling
// convention, on whatever thread and stack the library calls them: nothing of
// Go's runtime may be used here. Each does what libc's does, and returns that.

// How many writes failed for want of space, or because the disk is broken; the
// error of the last one; and, by file descriptor, how many there were when the
// file was opened.
GLOBL failedWrites<>(SB), NOPTR, $4
GLOBL failedWith<>(SB), NOPTR, $4
GLOBL openedAfter<>(SB), NOPTR, $0x400000

// checkedOpen also notes with the file how many writes had failed.
TEXT ·checkedOpen(SB), NOSPLIT|NOFRAME, $0-0
	SUBQ  $8, SP                 // the stack is aligned to 16 for a call
	MOVQ  ·libcOpen(SB), R11
	XORL  AX, AX                 // no argument is a float
	CALL  R11
	ADDQ  $8, SP
	TESTL AX, AX
	JLT   opened
	MOVL  AX, CX
	ANDL  $0xfffff, CX           // the length of openedAfter
	LEAQ  openedAfter<>(SB), R11
	MOVL  failedWrites<>(SB), DX
	MOVL  DX, (R11)(CX*4)
opened:
	RET

// checkedWrite also counts errors of the disk. After one it ends the file with
// zeros, which take no space and are no data of the library's, so that what is
// never synced cannot be read as if it were whole.
TEXT ·checkedWrite(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ DI
	MOVQ  ·libcWrite(SB), R11
	CALL  R11
	POPQ  DI
	TESTQ AX, AX
	JGE   written
	PUSHQ DI
	MOVQ  ·libcErrno(SB), R11
	CALL  R11
	POPQ  DI
	MOVL  (AX), DX
	CMPL  DX, $28                // ENOSPC
	JEQ   count
	CMPL  DX, $122               // EDQUOT
	JEQ   count
	CMPL  DX, $27                // EFBIG
	JEQ   count
	CMPL  DX, $5                 // EIO
	JNE   failed
count:
	MOVL  DX, failedWith<>(SB)
	LOCK
	INCL  failedWrites<>(SB)
	XORL  SI, SI                 // what follows leaves errno as it is
	MOVL  $2, DX                 // SEEK_END
	MOVL  $8, AX                 // lseek
	SYSCALL
	LEAQ  65536(AX), SI
	MOVL  $77, AX                // ftruncate
	SYSCALL
	XORL  SI, SI
	MOVL  $2, DX
	MOVL  $8, AX                 // lseek: later bytes come after the zeros
	SYSCALL
failed:
	MOVQ  $-1, AX
written:
	RET

// checkedSync also fails where a write failed since the file was opened, of
// this file or of any other: a part has files that are synced and such that are
// not, and all of them were written before the first is synced.
TEXT ·checkedSync(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ DI
	MOVQ  ·libcSync(SB), R11
	CALL  R11
	POPQ  DI
	TESTL AX, AX
	JNE   synced
	ANDL  $0xfffff, DI
	LEAQ  openedAfter<>(SB), R11
	MOVL  (R11)(DI*4), DX
	CMPL  DX, failedWrites<>(SB)
	JEQ   synced
	PUSHQ DI
	MOVQ  ·libcErrno(SB), R11
	CALL  R11
	POPQ  DI
	MOVL  failedWith<>(SB), DX
	MOVL  DX, (AX)
	MOVL  $-1, AX
synced:
	RET

DATA ·checkedOpenAddress(SB)/8, $·checkedOpen(SB)
GLOBL ·checkedOpenAddress(SB), RODATA, $8
DATA ·checkedWriteAddress(SB)/8, $·checkedWrite(SB)
GLOBL ·checkedWriteAddress(SB), RODATA, $8
DATA ·checkedSyncAddress(SB)/8, $·checkedSync(SB)
GLOBL ·checkedSyncAddress(SB), RODATA, $8
