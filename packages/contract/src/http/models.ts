/** The endpoints of models. Spec: document 1 section 4; api.md "agents and registry". */
import { Schema } from "effect"
import { ModelCreate, ModelOut, ModelUpdate } from "../models.ts"
import { pageQuery } from "../foundation/page.ts"
import { ModelNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

/** Endpoints of models. Spec: document 1 section 4, GET /models. */
export const models = {
  list: endpoint({
    id: "models.list",
    method: "GET",
    path: "/api/v1/models",
    summary: "Lists models, oldest first.",
    access: access.readOwn,
    query: queryOf(pageQuery("model")),
    success: json(200, Schema.Array(ModelOut))
  }),
  create: endpoint({
    id: "models.create",
    method: "POST",
    path: "/api/v1/models",
    summary: "Registers a model.",
    access: access.govern,
    body: jsonBody(ModelCreate),
    success: json(201, ModelOut),
    refusals: ["ModelTaken"]
  }),
  update: endpoint({
    id: "models.update",
    method: "PATCH",
    path: "/api/v1/models/{model_id}",
    summary: "Updates a model's status, hosting or price.",
    access: access.governAll,
    params: { model_id: idParam("model", () => new ModelNotFound()) },
    body: jsonBody(ModelUpdate),
    success: json(200, ModelOut),
    refusals: ["ModelNotFound"]
  })
} as const
