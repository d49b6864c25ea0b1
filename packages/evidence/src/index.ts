/** Public API of `@flyball/evidence`. Everything not listed may change tomorrow. */

// Bytes and primitives
export { killStatusBytes } from "./kill-status.ts"
export { concatBytes, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8, withoutMark } from "./bytes.ts"
export { SALT_BYTES } from "./commitment.ts"
export type { Crypto, Hasher } from "./crypto.ts"
export { portableCrypto } from "./crypto.ts"

// JSON
export {
  canonicalBytes,
  canonicalize,
  canonicalizeInSlices,
  MAX_CANONICAL_DEPTH,
  NotCanonical
} from "./json/canonical.ts"
export type { FormProblem, FormReason } from "./json/form.ts"
export { checkForm, MAX_RECORD_DEPTH } from "./json/form.ts"
export type { BoundedReason, JsonPath, ReadBounds, ReadOptions, ReadReason, ReadResult } from "./json/read.ts"
export { ONE_GO_PLACES, readJson, readJsonInSlices } from "./json/read.ts"
export type { JsonObject, JsonValue } from "./json/value.ts"
export { RawJson } from "./json/value.ts"

// Long work
export type { Slices } from "./slices.ts"
export { inOneGo } from "./slices.ts"

// Records
export type { RecordFields, RecordTextFields } from "./record/encode.ts"
export { encodeRecord, encodeRecordText, recordBodyText, RecordUnwritable } from "./record/encode.ts"
export { FIRST_INSTANT_MS, formatInstant, LAST_INSTANT_MS, parseInstant } from "./record/instant.ts"
export type { ReadRecord } from "./record/read.ts"
export { readRecord } from "./record/read.ts"
export type { PartCommitment, RecordCode, RecordProblem, RecordView } from "./record/record.ts"
export { MAX_RECORD_BYTES, NO_RECORD, RECORD_VERSION } from "./record/record.ts"
export { RecordScanner } from "./record/scan.ts"

// Kinds of records
export { allRecordKinds, kindRow, MAX_PARTS, recordKinds } from "./kinds/catalogue.ts"
export { checkBody } from "./kinds/check-body.ts"
export type { NamedPart } from "./kinds/check-parts.ts"
export { checkParts, isKeptPart } from "./kinds/check-parts.ts"
export { knownMembers } from "./kinds/known-members.ts"
export type { DecisionBody } from "./kinds/decisions.ts"
export type { DriftAlarmedBody } from "./kinds/drift.ts"
export type { EvalRecordedBody } from "./kinds/evals.ts"
export type { ManifestChangedBody, ManifestSeenBody } from "./kinds/mcp.ts"
export type { RoutePlanCompletedBody, RoutePlanFailedBody } from "./kinds/routes.ts"
export type { AnalysisCompletedBody, AnalysisFailedBody } from "./kinds/analyses.ts"
export type { PositionsRecordedBody } from "./kinds/tracking.ts"
export type { ExtractionCompletedBody, ExtractionFailedBody } from "./kinds/extractions.ts"
export type { FairnessScreenedBody } from "./kinds/fairness.ts"
export type {
  ExecutionDecidedBody,
  ExecutionFinishedBody,
  ExecutionStartedBody,
  ExecutionWaitingBody,
  WorkflowChangedBody
} from "./kinds/executions.ts"
export type { AlertResolvedBody, AlertTriggeredBody, MonitorChangedBody } from "./kinds/monitoring.ts"
export type { EvaluationBody } from "./kinds/envelopes.ts"
export { isForeignName, isNewForeignName } from "./kinds/foreign-name.ts"
export { mcpAddressDigest } from "./kinds/mcp-address.ts"
export type { MemberType } from "./kinds/members.ts"
export type { BodyMember, KindRow, PartRow } from "./kinds/row.ts"

// The chain before a recovered one
export type { Previous } from "./previous.ts"
export { parsePrevious, PREVIOUS, previousBytes, REASON } from "./previous.ts"

// Identifiers
export type { DecisionRef } from "./id.ts"
export { decisionId, decodeId, encodeId, ID_LETTERS, parseDecisionId } from "./id.ts"

// The Merkle tree
export type { NodeCoord, NodeReader } from "./merkle/coords.ts"
export { split } from "./merkle/coords.ts"
export { consistencyProof, inclusionProof, rangeProof } from "./merkle/prove.ts"
export { foldRun } from "./merkle/fold-run.ts"
export { RangeFolder } from "./merkle/range-folder.ts"
export { emptyRoot } from "./merkle/fold.ts"
export { rootAt, rootOfHashes } from "./merkle/root.ts"
export type { ReadHashes } from "./merkle/tiles.ts"
export { MissingNodes, TILE_WIDTH, tileReader, tileRoot } from "./merkle/tiles.ts"
export type { Count } from "./merkle/verify.ts"
export {
  verifyConsistency,
  verifyInclusion,
  verifySubtreeConsistency,
  verifySubtreeInclusion
} from "./merkle/verify.ts"

// Notes, checkpoints, packs, verifier

// Notes, keys and checkpoints
export { isOrigin, formatCheckpoint, parseCheckpoint, parseGeneralCheckpoint } from "./checkpoint/checkpoint.ts"
export type { Checkpoint, CheckpointResult, GeneralCheckpoint } from "./checkpoint/checkpoint.ts"
export type { Cosignature } from "./note/cosignature.ts"
export { cosignatureMessage, readCosignature, writeCosignature } from "./note/cosignature.ts"
export { isStrictPublicKey, verifyEd25519 } from "./ed25519/strict.ts"
export type { Note, NoteResult, NoteSignature } from "./note/note.ts"
export { formatNote, MAX_NOTE_BYTES, MAX_NOTE_SIGNATURES, parseNote, signatureLine } from "./note/note.ts"
export type { NoteSigner } from "./checkpoint/sign.ts"
export { cosigner, noteSigner } from "./checkpoint/sign.ts"
export type { JudgedSignature, NoteVerification } from "./note/verify-note.ts"
export { verifyNote } from "./note/verify-note.ts"
export type { Vkey, VkeyResult } from "./note/vkey.ts"
export { checkVkey, formatVkey, isSameKey, keyIdOf, parseVkey, signatureType } from "./note/vkey.ts"
export type { Policy, PolicyResult, PolicyWitness, Quorum } from "./policy/policy.ts"
export { parsePolicy, quorumMet } from "./policy/policy.ts"

// Evidence packs
export type { PackHeader, PackKind } from "./pack/format.ts"
export { HASH_BYTES, MAX_HINTS, MAX_LINE_BYTES, MAX_PART_BYTES, MAX_TOKENS, PACK_FORMAT } from "./pack/format.ts"
export { PackFileUnusable } from "./pack/byte-source.ts"
export { LineReader } from "./pack/line-reader.ts"
export type { PackExtras, PackLines, PackSign } from "./pack/lines.ts"
export { packLines, packNoteText } from "./pack/lines.ts"

// The verifier
export type { CommonSigner, Comparison } from "./verify/compare.ts"
export { compareHistories, withComparison } from "./verify/compare.ts"
export { peekTreeSizes } from "./verify/peek.ts"
export type {
  Anchoring,
  Authenticity,
  CheckpointSigner,
  Completeness,
  Counts,
  ExitStatus,
  Finding,
  FindingCode,
  Integrity,
  Report,
  ReportedCosignature,
  ReportedKey,
  Verdicts
} from "./verify/report.ts"
export { findingCodes, MAX_LISTED_FINDINGS } from "./verify/report.ts"
export { UnusableTrust } from "./verify/trust.ts"
export type { PackChunks, VerifyOptions } from "./verify/verify-pack.ts"
export { verifyPack } from "./verify/verify-pack.ts"
export { documentTypes, documentWarnings, extractionFailures, unassignedReasons } from "./words.ts"
