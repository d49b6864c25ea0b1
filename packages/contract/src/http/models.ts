/** The endpoints of models. Spec: document 1 section 4; api.md "agents and registry". */
import { Schema } from "effect"
import { type ModelChange, ModelCreate, type ModelInfo, type ModelInput, ModelOut, ModelUpdate } from "../models.ts"
import { pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { ModelNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const Model = named<ModelInfo>()(ModelOut)

/** Endpoints of models. Spec: document 1 section 4, GET /models. */
export const models = {
  list: endpoint({
    id: "models.list",
    method: "GET",
    path: "/api/v1/models",
    summary: "Lists models, oldest first.",
    access: access.readOwn,
    query: queryOf(pageQuery("model")),
    success: json(200, Schema.Array(Model))
  }),
  create: endpoint({
    id: "models.create",
    method: "POST",
    path: "/api/v1/models",
    summary: "Registers a model.",
    access: access.govern,
    body: jsonBody(named<ModelInput>()(ModelCreate)),
    success: json(201, Model),
    refusals: ["ModelTaken"]
  }),
  update: endpoint({
    id: "models.update",
    method: "PATCH",
    path: "/api/v1/models/{model_id}",
    summary: "Updates a model's status, hosting or price.",
    access: access.governAll,
    params: { model_id: idParam("model", () => new ModelNotFound()) },
    body: jsonBody(named<ModelChange>()(ModelUpdate)),
    success: json(200, Model),
    refusals: ["ModelNotFound"]
  })
} as const
