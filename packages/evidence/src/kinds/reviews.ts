/** Rows of the catalogue: reviews, in which people answer what an envelope does not let an agent do alone. */
import { agentId, choice, count, hash, id, type KindRow, may, must, name, part, writer } from "./row.ts"

const reviewId = must("review_id", id("rev_"))
const evaluationId = must("evaluation_id", id("evl_"))
const reasonPart = part("reason", 16_384, "a JSON string: the reason that was given")
/** `other`: a role that the service does not give. */
const reviewRole = choice("reviewer", "operator", "governor", "admin", "other")

/** The rows, in the order of the specification's table. */
export const reviewKinds: ReadonlyArray<KindRow> = [
  {
    kind: "review.opened",
    about:
      "People must answer an evaluation with the outcome `require_review`. That evaluation is the record before this " +
      "one in the same commit, and the two ids differ in the prefix only. Each entry of `needs` is a number of " +
      "different people who must approve, of its `role` or, without one, of any. `layers` are the versions under " +
      "which the evaluation was made. `writer` requested it.",
    body: [
      must("action_digest", hash),
      agentId,
      evaluationId,
      must("expires_at_ms", count),
      must("layers", {
        type: "list",
        of: {
          type: "object",
          members: [must("envelope_id", id("env_")), must("version", { type: "integer", min: 1, max: 1_000_000 })]
        },
        min: 0,
        max: 15
      }),
      must("matched_rule", name(128)),
      must("needs", {
        type: "list",
        of: {
          type: "object",
          members: [must("approvals", { type: "integer", min: 1, max: 10 }), may("role", reviewRole)]
        },
        min: 1,
        max: 8
      }),
      must("opened_at_ms", count),
      reviewId,
      must("two_person", { type: "boolean" }),
      writer
    ],
    parts: []
  },
  {
    kind: "review.presented",
    about:
      "What was shown to a person: `presented_digest` is SHA-256 over the RFC 8785 form of the interface's answer, " +
      "as of record `as_of_seq`. There is one record for each person and digest.",
    body: [agentId, must("as_of_seq", count), must("presented_digest", hash), reviewId, writer],
    parts: []
  },
  {
    kind: "review.claimed",
    about:
      "A person claimed a review, or renewed the claim: nobody else can answer it before `lease_until_ms`. With " +
      "`given_back` the person released the claim.",
    body: [agentId, may("given_back", { type: "boolean" }), must("lease_until_ms", count), reviewId, writer],
    parts: []
  },
  {
    kind: "review.resolved",
    about:
      "A person answered. `ends` is true where the review is over: it was rejected or amended, or `approvals_given` " +
      "meet its `needs`. `roles` are the person's roles among those of `needs`.",
    body: [
      agentId,
      must("approvals_given", { type: "integer", min: 0, max: 64 }),
      must("approvals_needed", { type: "integer", min: 1, max: 10 }),
      must("ends", { type: "boolean" }),
      must("resolution", choice("approve", "reject", "amend")),
      must("resolved_at_ms", count),
      reviewId,
      must("roles", { type: "list", of: reviewRole, min: 0, max: 8 }),
      writer
    ],
    parts: [reasonPart]
  },
  {
    kind: "review.expired",
    about: "The review ended without an answer, at its expiry.",
    body: [agentId, must("expires_at_ms", count), reviewId, writer],
    parts: []
  },
  {
    kind: "review.cancelled",
    about:
      "The review is over without an answer. `killed`: a halt reached its agent, `activation_id`. The record may " +
      "follow the release of that halt: the review is over since. `superseded`: its envelopes are no longer those in " +
      "force. `withdrawn`: its requester needs no answer.",
    body: [
      may("activation_id", id("kil_")),
      agentId,
      must("cancelled_at_ms", count),
      must("cause", choice("killed", "superseded", "withdrawn")),
      reviewId,
      writer
    ],
    parts: [reasonPart]
  },
  {
    kind: "review.consumed",
    about:
      "An approval was presented for the same action, in the commit of the evaluation that names it as " +
      "`approval_id`. `used`: the action may be taken. `voided`: the envelopes in force became stricter. An approval " +
      "is consumed once.",
    body: [
      agentId,
      must("consumed_at_ms", count),
      evaluationId,
      must("result", choice("used", "voided")),
      reviewId,
      writer
    ],
    parts: []
  }
]
