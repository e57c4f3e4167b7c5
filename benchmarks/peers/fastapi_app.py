"""FastAPI with asyncpg and orjson, handwritten: no response model, no dependencies, one orjson of plain dicts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from fastapi import FastAPI, Request, Response

from benchmarks.peers import rows


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with await rows.make_pool() as app.state.pool:
        yield


app = FastAPI(lifespan=lifespan, openapi_url=None)


@app.post("/list_apps")
async def list_apps(request: Request) -> Response:
    pool = app.state.pool
    organization = await rows.organization_of(pool, request.headers.get("authorization", "").removeprefix("Bearer "))
    if organization is None:
        return Response(status_code=401)
    limit = orjson.loads(await request.body()).get("limit", 100)
    if not (isinstance(limit, int) and 1 <= limit <= 100):
        return Response(status_code=422)
    answer = await rows.list_apps(pool, *organization, limit)
    return Response(orjson.dumps(answer), media_type="application/json")
