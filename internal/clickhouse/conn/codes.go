package conn

// Exception codes by ClickHouse's names. Codes are stable; texts are not.
const (
	codeCannotReadAllData                 = 33
	codeTooLargeSizeCompressed            = 39
	codeChecksumDoesntMatch               = 40
	codeUnknownTable                      = 60
	codeUnknownDatabase                   = 81
	codeFileDoesntExist                   = 107
	codeIncompatibleColumns               = 122
	codeTooManyRows                       = 158
	codeTimeoutExceeded                   = 159
	codeTooSlow                           = 160
	codeReadonly                          = 164
	codeSetSizeLimitExceeded              = 191
	codeUnknownUser                       = 192
	codeWrongPassword                     = 193
	codeRequiredPassword                  = 194
	codeQuotaExceeded                     = 201
	codeTooManySimultaneousQueries        = 202
	codeNoZookeeper                       = 225
	codeNoFileInDataPart                  = 226
	codeBadSizeOfFileInDataPart           = 228
	codeAborted                           = 236
	codeMemoryLimitExceeded               = 241
	codeTableIsReadOnly                   = 242
	codeNotEnoughSpace                    = 243
	codeCorruptedData                     = 246
	codeReplicaAlreadyExists              = 253
	codeCannotDecompress                  = 271
	codeTooFewLiveReplicas                = 285
	codeUnsatisfiedQuorumForPreviousWrite = 286
	codeReplicaIsNotInQuorum              = 289
	codeTooManyBytes                      = 307
	codeUnknownStatusOfInsert             = 319
	codeUnfinished                        = 341
	codeQueryWasCancelled                 = 394
	codeTooManyRowsOrBytes                = 396
	codeUnknownCodec                      = 432
	codeSettingConstraintViolation        = 452
	codeAccessDenied                      = 497
	codeAuthenticationFailed              = 516
	codeCannotAssignAlter                 = 517
	codeKeeperException                   = 999
)
