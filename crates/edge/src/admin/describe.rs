//! The description of the admin API in OpenAPI 3.1, made of the routes and their types.
//!
//! A route says what it asks and gives; the comments of those types are the descriptions. Nothing
//! is made before somebody asks for it, and nothing is checked here.

use std::sync::{Arc, LazyLock};

use axum::{
    handler::Handler,
    routing::{self, MethodRouter},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::{Edge, reply::FaultBody};

/// The description of this API, as text.
pub static OPENAPI: LazyLock<String> = LazyLock::new(|| describe().to_string());

/// Whose session is meant.
pub const SESSION: TextParameter = ("path", "session", "Name, id, or the beginning of the id.");

/// A parameter that is plain text: where it stands, its name, and what it means.
pub type TextParameter = (&'static str, &'static str, &'static str);
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One route of this API, and what its description says.
pub struct AdminRoute {
    /// As the description writes it: `get` or `post`.
    pub method: &'static str,
    /// With its parameters in braces.
    pub path: &'static str,
    pub(super) handler: MethodRouter<Arc<Edge>>,
    id: &'static str,
    summary: &'static str,
    texts: &'static [TextParameter],
    query: Option<SchemaOf>,
    body: Option<SchemaOf>,
    /// Its media type, what it is, and its schema.
    answer: (&'static str, &'static str, SchemaOf),
}

/// Begins a route that only reads.
pub fn get<H: Handler<T, Arc<Edge>>, T: 'static>(path: &'static str, handler: H) -> AdminRoute {
    route("get", path, routing::get(handler))
}

/// Begins a route that changes something.
pub fn post<H: Handler<T, Arc<Edge>>, T: 'static>(path: &'static str, handler: H) -> AdminRoute {
    route("post", path, routing::post(handler))
}

fn route(method: &'static str, path: &'static str, handler: MethodRouter<Arc<Edge>>) -> AdminRoute {
    let answer: (_, _, SchemaOf) = ("", "", SchemaGenerator::subschema_for::<Value>);
    let (id, summary, texts) = ("", "", &[]);
    AdminRoute { method, path, handler, id, summary, texts, query: None, body: None, answer }
}

impl AdminRoute {
    /// Says its name for programs, and what it does.
    pub fn does(self, id: &'static str, summary: &'static str) -> Self {
        Self { id, summary, ..self }
    }

    /// Names its parameters in the path and in headers.
    pub fn texts(self, texts: &'static [TextParameter]) -> Self {
        Self { texts, ..self }
    }

    /// Says what its query may hold.
    pub fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// Says what its body must be.
    pub fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// Says what it answers with, as JSON.
    pub fn gives<T: JsonSchema>(self, what: &'static str) -> Self {
        self.gives_as::<T>("application/json", what)
    }

    /// Says what it answers with.
    pub fn gives_as<T: JsonSchema>(self, media: &'static str, what: &'static str) -> Self {
        Self { answer: (media, what, SchemaGenerator::subschema_for::<T>), ..self }
    }

    fn operation(&self, schemas: &mut SchemaGenerator) -> Value {
        let (media, what, answer) = self.answer;
        let mut parameters = self.query.map(in_query).unwrap_or_default();
        parameters.extend(self.texts.iter().map(|(place, name, description)| {
            let (required, schema) = (*place == "path", json!({"type": "string"}));
            json!({
                "name": name, "in": place, "required": required,
                "description": description, "schema": schema,
            })
        }));
        let mut operation = json!({
            "operationId": self.id,
            "summary": self.summary,
            "parameters": parameters,
            "responses": {
                "200": {"description": what, "content": {media: {"schema": answer(schemas)}}},
                "default": {"$ref": "#/components/responses/Fault"},
            },
        });
        if let Some(body) = self.body {
            let content = json!({"application/json": {"schema": asked(body)}});
            operation["requestBody"] = json!({"required": true, "content": content});
        }
        operation
    }
}

/// Returns the schema of what is asked; unlike what is given, it stands where it is needed.
fn asked(schema: SchemaOf) -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    schema(&mut settings.into_generator())
}

/// Lists the members of a query as parameters.
fn in_query(schema: SchemaOf) -> Vec<Value> {
    let members = asked(schema).remove("properties").unwrap_or_default();
    let members = members.as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        // What is optional is left out of a query: there is no `null` in it.
        if let Some(kind) = schema["type"].get(0).cloned() {
            schema["type"] = kind;
        }
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({"name": name, "in": "query", "description": description, "schema": schema})
    };
    members.into_iter().map(parameter).collect()
}

fn describe() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|it| it.definitions_path = "/components/schemas".into());
    let mut schemas = settings.into_generator();
    let mut paths = json!({});
    for route in super::routes() {
        paths[route.path][route.method] = route.operation(&mut schemas);
    }
    let fault = json!({
        "description": "What went wrong; codes are in docs/protocol.md.",
        "content": {"application/json": {"schema": schemas.subschema_for::<FaultBody>()}},
    });
    let token = "Needed where the hub is reached from other machines or runs with --require-token.";
    let about = "What the command line and the dashboard use. Every request passes the gates: \
        Host, Origin, and a bearer token where the hub wants one.";
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Tabwire admin API", "version": "1", "description": about},
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": token},
            },
            "responses": {"Fault": fault},
            "schemas": schemas.take_definitions(true),
        },
        "security": [{}, {"token": []}],
    })
}
