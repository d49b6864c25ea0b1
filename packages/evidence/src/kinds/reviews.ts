/** Rows of the catalogue: reviews, in which people answer what an envelope does not let an agent do alone. */
import { agentId, choice, count, hash, id, type KindRow, may, must, name, part, writer } from "./row.ts"

const reviewId = must("review_id", id("rev_"))
const evaluationId = must("evaluation_id", id("evl_"))
const reasonPart = part("reason", 16_384, "any text as JSON: what was said of it")
/** `other`: a role that the service does not give. */
const reviewRole = choice("reviewer", "operator", "governor", "admin", "other")

/** The rows, in the order of the specification's table. */
export const reviewKinds: ReadonlyArray<KindRow> = [
  {
    kind: "review.opened",
    about:
      "People are to answer an evaluation whose outcome is `require_review`; it is the record before this one in the " +
      "same commit, and the ids of both differ in the prefix alone. `needs`: of each role, or of any where none is " +
      "named, so many different people must approve. `layers` are the versions that the evaluation was made under. " +
      "`writer` requested it.",
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
      "What a person was shown of the action: `presented_digest` is SHA-256 over the RFC 8785 form of what the " +
      "interface answered, as of the record `as_of_seq`. Once for each person and digest.",
    body: [agentId, must("as_of_seq", count), must("presented_digest", hash), reviewId, writer],
    parts: []
  },
  {
    kind: "review.claimed",
    about:
      "A person takes a review up, or renews that: nobody else answers it before `lease_until_ms`. With `given_back` " +
      "the person lets go of it.",
    body: [agentId, may("given_back", { type: "boolean" }), must("lease_until_ms", count), reviewId, writer],
    parts: []
  },
  {
    kind: "review.resolved",
    about:
      "A person answers. `ends`: the review is over, since it was rejected or amended, or `approvals_given` meet its " +
      "`needs`. `roles` are those of `needs` that the person has.",
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
    about: "Nobody ended the review in time. That is no answer.",
    body: [agentId, must("expires_at_ms", count), reviewId, writer],
    parts: []
  },
  {
    kind: "review.cancelled",
    about:
      "The review is over without an answer: `killed`, a halt reached its agent; `superseded`, its envelopes are no " +
      "more those in force; `withdrawn`, its requester needs no answer.",
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
      "`approval_id`: `used`, the action may be taken, or `voided`, what is in force became stricter. It counts no " +
      "second time.",
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
