/** The chain's endpoints. Spec: document 1 section 4, `/chain`; api.md "decisions, chain, evidence". */
import { Result } from "effect"
import {
  type ConsistencyInfo,
  ConsistencyOut,
  ConsistencyQuery,
  ErasureIn,
  type ErasureInfo,
  type ErasureInput,
  ErasureOut,
  GenesisOut,
  GenesisQuery,
  type HeadInfo,
  HeadOut,
  KeysOut,
  type PartInfo,
  partName,
  PartOut,
  type ProofInfo,
  ProofOut,
  ProofQuery,
  RecordOut,
  RecordsQuery,
  type VerifyInfo,
  VerifyOut,
  VerifyQuery
} from "../chain.ts"
import { decode } from "../foundation/decode.ts"
import { KeysPageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { PartNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, json, jsonBody, jsonOrLines, media, type Param, queryOf, seqParam } from "./endpoint.ts"

const readPartName = decode(partName)
/** The name of a part in a path. What is no such name is a part that no record has. */
const partParam: Param<string> = {
  plain: "string",
  schema: partName,
  decode: (text, name) => Result.mapError(readPartName(text, "path", [name]), () => new PartNotFound({})),
  example: "args"
}

/** Endpoints of the chain. Spec: document 1 section 4, `/chain`; format 1 sections 1 to 4. */
export const chain = {
  head: endpoint({
    id: "chain.head",
    method: "GET",
    path: "/api/v1/chain/head",
    summary: "Returns the last record's seq and hash, and the Merkle tree over all records.",
    access: access.readOwn,
    success: json(200, named<HeadInfo>()(HeadOut))
  }),
  verify: endpoint({
    id: "chain.verify",
    method: "GET",
    path: "/api/v1/chain/verify",
    summary: "Recomputes the chain from the stored bytes.",
    access: access.read,
    query: queryOf(VerifyQuery),
    success: json(200, named<VerifyInfo>()(VerifyOut)),
    admission: "costly_read"
  }),
  records: endpoint({
    id: "chain.records",
    method: "GET",
    path: "/api/v1/chain/records",
    summary: "Lists records as their exact bytes, oldest first; as NDJSON if Accept names it.",
    access: access.readChain,
    query: queryOf(RecordsQuery),
    success: jsonOrLines(RecordOut),
    admission: "large_page"
  }),
  record: endpoint({
    id: "chain.record",
    method: "GET",
    path: "/api/v1/chain/records/{seq}",
    summary: "Returns one record as its exact bytes.",
    access: access.readChain,
    params: { seq: seqParam },
    success: json(200, RecordOut),
    refusals: ["RecordNotFound"]
  }),
  part: endpoint({
    id: "chain.part",
    method: "GET",
    path: "/api/v1/chain/records/{seq}/parts/{name}",
    summary: "Returns the content of one part of a record, with the salt of its commitment.",
    access: access.govern,
    params: { seq: seqParam, name: partParam },
    success: json(200, named<PartInfo>()(PartOut)),
    refusals: ["RecordNotFound", "PartNotFound", "PartErased"],
    // To read it is to ask for what is gone for good; to erase it again conflicts with what is.
    statuses: { PartErased: 410 }
  }),
  proof: endpoint({
    id: "chain.proof",
    method: "GET",
    path: "/api/v1/chain/records/{seq}/proof",
    summary: "Returns the proof that a record is in the tree.",
    access: access.read,
    params: { seq: seqParam },
    query: queryOf(ProofQuery),
    success: json(200, named<ProofInfo>()(ProofOut)),
    refusals: ["RecordNotFound"]
  }),
  consistency: endpoint({
    id: "chain.consistency",
    method: "GET",
    path: "/api/v1/chain/consistency",
    summary: "Returns the proof that a smaller tree is a prefix of a larger one.",
    access: access.read,
    query: queryOf(ConsistencyQuery),
    success: json(200, named<ConsistencyInfo>()(ConsistencyOut))
  }),
  checkpoint: endpoint({
    id: "chain.checkpoint",
    method: "GET",
    path: "/api/v1/chain/checkpoint",
    summary: "Returns the newest checkpoint as a signed note.",
    access: access.readOwn,
    success: media("text/plain; charset=utf-8")
  }),
  genesis: endpoint({
    id: "chain.genesis",
    method: "GET",
    path: "/api/v1/chain/genesis",
    summary: "Returns record 0 with its proof, and after a recovery the chain that this one succeeds.",
    access: access.readOwn,
    query: queryOf(GenesisQuery),
    success: json(200, GenesisOut),
    refusals: ["ChainNotFound"]
  }),
  keys: endpoint({
    id: "chain.keys",
    method: "GET",
    path: "/api/v1/chain/keys",
    summary: "Lists the keys that sign the chain, or did before a rotation.",
    access: access.read,
    query: queryOf(KeysPageQuery),
    success: json(200, KeysOut)
  }),
  erase: endpoint({
    id: "chain.erase",
    method: "POST",
    path: "/api/v1/chain/erasures",
    summary: "Erases a part of a record and records the erasure.",
    access: access.erase,
    body: jsonBody(named<ErasureInput>()(ErasureIn)),
    success: json(201, named<ErasureInfo>()(ErasureOut)),
    refusals: ["RecordNotFound", "PartNotFound", "PartErased"]
  })
} as const
