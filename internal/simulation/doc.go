// Package simulation runs loads, collections, readers, backups, restores into empty
// stores and over damaged accounts, moves of accounts between shards, and requests with
// keys and links on a model of the store whose every failure, delay and order of events is
// decided by one number, the seed, and compares each answer with a plain model. A seed that
// fails is run again to the same byte, and made short.
//
// The loader, the record of commits, the look for losses, the authenticator, the limits,
// backups, restores, moves, the look for an account's shard and all that decides is the
// program's own code. Only the rows are the model's (tables.Memory), and what happens to
// calls on their way to them: an insert may be refused, be carried out though its answer is
// lost, or be carried out much later; processes are killed, stopped and interrupted; locks
// fail; clocks jump; the engine dies and loses rows, or cannot read some any more; the power
// is cut; of what was written last, the replica that a process reads lacks some; an older
// copy of the disk is put back.
package simulation
