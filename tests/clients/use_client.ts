// Uses the types that openapi-typescript makes of openapi.json. `tsc --strict` reads it; it is never run.
import createClient from "openapi-fetch";
import type { components, paths } from "../../build/clients/porthole";

type Schemas = components["schemas"];

const porthole = createClient<paths>({
  baseUrl: "http://localhost:8000",
  headers: { Authorization: "Bearer porthole-local-dev" },
});

/** Every app, page by page. */
export async function* apps(query?: string): AsyncGenerator<Schemas["App"]> {
  let cursor: string | null = null;
  do {
    const body: Schemas["ListAppsInput"] = { limit: 50, ...(query && { query }), ...(cursor && { cursor }) };
    const { data, error } = await porthole.POST("/api/v1/tools/list_apps", { body });
    if (!data) throw new Error(sentence(error));
    yield* data.items;
    cursor = data.nextCursor;
  } while (cursor);
}

/** What failed last, with times and nulls as the contract has them. */
export async function lastFailure(applicationId: string): Promise<string> {
  const { data, error } = await porthole.POST("/api/v1/tools/list_deployments", {
    body: { applicationId, status: "failed", limit: 1 },
  });
  if (!data) throw new Error(sentence(error));
  const [deployment] = data.items;
  const commit: string | null | undefined = deployment?.commitSha;
  return `${commit?.slice(0, 7) ?? "?"}: ${deployment?.errorMessage ?? "no message"}`;
}

export async function readme(applicationId: string): Promise<string> {
  const { data, error } = await porthole.POST("/api/v1/tools/get_file", { body: { applicationId, path: "README.md" } });
  if (!data) throw new Error(sentence(error));
  return data.encoding === "utf-8" ? data.content : atob(data.content);
}

/** A call without input needs no body. */
export const account = () => porthole.POST("/api/v1/tools/get_account");

/** A code from the browser becomes a token. */
export async function token(code: string, code_verifier: string): Promise<Schemas["TokenResponse"]> {
  const body: Schemas["TokenRequest"] = { grant_type: "authorization_code", client_id: "client", code, code_verifier };
  const { data, error } = await porthole.POST("/api/auth/mcp/token", { body });
  if (!data) throw new Error(error.error_description ?? error.error);
  return data;
}

function sentence(error: Schemas["Error"] | Schemas["InvalidInput"]): string {
  const { detail } = error;
  return typeof detail === "string" ? detail : detail.map((problem) => `${problem.loc.join(".")}: ${problem.msg}`).join("\n");
}

// What must not compile: an input that is missing, misspelt, of another type, outside its words, or null.
export const refused = [
  // @ts-expect-error
  () => porthole.POST("/api/v1/tools/list_files"),
  // @ts-expect-error
  () => porthole.POST("/api/v1/tools/list_files", { body: { limit: 10 } }),
  // @ts-expect-error
  (): Schemas["ListAppsInput"] => ({ projectID: "prj_" }),
  // @ts-expect-error
  () => porthole.POST("/api/v1/tools/list_apps", { body: { limit: "7" } }),
  // @ts-expect-error
  () => porthole.POST("/api/v1/tools/list_apps", { body: { status: "crashed" } }),
  // @ts-expect-error
  () => porthole.POST("/api/v1/tools/list_apps", { body: { cursor: null } }),
  // @ts-expect-error
  () => porthole.POST("/api/v1/tools/delete_app"),
];

// No variable has a value.
// @ts-expect-error
export type NoValue = Schemas["Variable"]["value"];
