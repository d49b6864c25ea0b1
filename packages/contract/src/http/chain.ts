/** The chain's endpoints. Spec: document 1 section 4, `/chain`; api.md "decisions, chain, evidence". */
import { Result } from "effect"
import {
  ConsistencyOut,
  ConsistencyQuery,
  ErasureIn,
  ErasureOut,
  GenesisOut,
  HeadOut,
  KeysOut,
  partName,
  PartOut,
  ProofOut,
  ProofQuery,
  RecordOut,
  RecordsQuery,
  VerifyOut,
  VerifyQuery
} from "../chain.ts"
import { decode } from "../decode.ts"
import { KeysPageQuery } from "../page.ts"
import { PartNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, json, jsonBody, jsonOrLines, media, type Param, queryOf, seqParam } from "./endpoint.ts"

const readPartName = decode(partName)
/** The name of a part in a path. What is no such name is a part that no record has. */
const partParam: Param<string> = {
  schema: partName,
  decode: (text, name) => Result.mapError(readPartName(text, "path", [name]), () => new PartNotFound({})),
  example: "args"
}

/** The chain. */
export const chain = {
  head: endpoint({
    id: "chain.head",
    method: "GET",
    path: "/api/v1/chain/head",
    summary: "The last record and the tree over all of them.",
    access: access.readOwn,
    success: json(200, HeadOut)
  }),
  verify: endpoint({
    id: "chain.verify",
    method: "GET",
    path: "/api/v1/chain/verify",
    summary: "Recomputes the chain from the stored bytes.",
    access: access.read,
    query: queryOf(VerifyQuery),
    success: json(200, VerifyOut)
  }),
  records: endpoint({
    id: "chain.records",
    method: "GET",
    path: "/api/v1/chain/records",
    summary: "Records as their exact bytes, oldest first; NDJSON if Accept names it.",
    access: access.readChain,
    query: queryOf(RecordsQuery),
    success: jsonOrLines(RecordOut)
  }),
  record: endpoint({
    id: "chain.record",
    method: "GET",
    path: "/api/v1/chain/records/{seq}",
    summary: "One record as its exact bytes.",
    access: access.readChain,
    params: { seq: seqParam },
    success: json(200, RecordOut),
    refusals: ["RecordNotFound"]
  }),
  part: endpoint({
    id: "chain.part",
    method: "GET",
    path: "/api/v1/chain/records/{seq}/parts/{name}",
    summary: "The content of one part of a record, with the salt of its commitment.",
    access: access.govern,
    params: { seq: seqParam, name: partParam },
    success: json(200, PartOut),
    refusals: ["RecordNotFound", "PartNotFound", "PartErased"]
  }),
  proof: endpoint({
    id: "chain.proof",
    method: "GET",
    path: "/api/v1/chain/records/{seq}/proof",
    summary: "Proves that a record is in the tree.",
    access: access.read,
    params: { seq: seqParam },
    query: queryOf(ProofQuery),
    success: json(200, ProofOut),
    refusals: ["RecordNotFound"]
  }),
  consistency: endpoint({
    id: "chain.consistency",
    method: "GET",
    path: "/api/v1/chain/consistency",
    summary: "Proves that one tree begins with another.",
    access: access.read,
    query: queryOf(ConsistencyQuery),
    success: json(200, ConsistencyOut)
  }),
  checkpoint: endpoint({
    id: "chain.checkpoint",
    method: "GET",
    path: "/api/v1/chain/checkpoint",
    summary: "The newest checkpoint as a signed note.",
    access: access.readOwn,
    success: media("text/plain; charset=utf-8")
  }),
  genesis: endpoint({
    id: "chain.genesis",
    method: "GET",
    path: "/api/v1/chain/genesis",
    summary: "Record 0 with its proof, and the chain that this one follows after a recovery.",
    access: access.readOwn,
    success: json(200, GenesisOut)
  }),
  keys: endpoint({
    id: "chain.keys",
    method: "GET",
    path: "/api/v1/chain/keys",
    summary: "The keys that sign, or signed, for the chain.",
    access: access.read,
    query: queryOf(KeysPageQuery),
    success: json(200, KeysOut)
  }),
  erase: endpoint({
    id: "chain.erase",
    method: "POST",
    path: "/api/v1/chain/erasures",
    summary: "Erases a part of a record and records that.",
    access: access.erase,
    body: jsonBody(ErasureIn),
    success: json(201, ErasureOut),
    refusals: ["RecordNotFound", "PartNotFound", "PartErased"]
  })
} as const
