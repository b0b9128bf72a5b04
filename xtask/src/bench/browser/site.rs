//! The pages that are measured, served on loopback: a small one and a table of 1000 rows.
//!
//! The small page counts the clicks on its button, real ones only, and shows the count at once. It
//! reports nothing by itself: a request in the middle of a click is something that some servers
//! wait for, so a page that makes one measures that.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    ops::RangeInclusive,
    sync::Arc,
    thread,
};

use anyhow::Result;

const SMALL: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Small</title><link rel=\"icon\" href=\"data:,\"></head>
<body><h1>Small page</h1><p>Some words to read.</p>
<button id=\"add\">Add one</button> <output id=\"count\">0</output> <a href=\"/small\">Again</a>
<script>
  let count = 0;
  document.getElementById('add').addEventListener('click', (event) => {
    if (event.isTrusted) document.getElementById('count').textContent = ++count;
  });
</script></body></html>
";
/// The numbers of the table's rows, which nothing else in it has.
pub const ORDERS: RangeInclusive<usize> = 10_001..=11_000;

/// A running site, for as long as this process lives.
pub struct Site {
    port: u16,
    /// The size of the table's page.
    pub table_bytes: usize,
}

impl Site {
    /// Starts serving.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let table = Arc::new(table());
        let table_bytes = table.len();
        // One thread per connection: browsers open some that they may never use.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let table = table.clone();
                thread::spawn(move || answer(&stream, &table));
            }
        });
        Ok(Self { port, table_bytes })
    }

    /// Returns the address of the small page; the mark tells one visit from another.
    pub fn small(&self, mark: &str) -> String {
        format!("http://127.0.0.1:{}/small?{mark}", self.port)
    }

    /// Returns the address of the table.
    pub fn table(&self) -> String {
        format!("http://127.0.0.1:{}/table", self.port)
    }
}

fn answer(mut stream: &TcpStream, table: &str) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream).lines();
    while let Some(line) = lines.next() {
        let line = line?;
        let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        // The rest of the head says nothing that matters here.
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let body = match path.split('?').next() {
            Some("/small") => SMALL,
            Some("/table") => table,
            _ => "",
        };
        let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
        let mut whole = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\
             Cache-Control: no-store\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        whole.push_str(body);
        stream.write_all(whole.as_bytes())?;
    }
    Ok(())
}

/// Orders, as an administrator's page shows them.
fn table() -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Orders</title>\
         <link rel=\"icon\" href=\"data:,\"></head>\n<body><h1>Orders</h1>\n<table><thead><tr>\
         <th>Order</th><th>Customer</th><th>City</th><th>Amount</th><th>State</th><th>Action</th>\
         </tr></thead>\n<tbody>\n",
    );
    let cities = ["Graz", "Lyon", "Porto", "Turku", "Ghent"];
    let states = ["paid", "open", "late"];
    for order in ORDERS {
        let row = order - ORDERS.start() + 1;
        let _ = writeln!(
            page,
            "<tr><td>{order}</td><td>Customer {row}</td><td>{}</td><td>{}.{:02} EUR</td><td>{}</td>\
             <td><a href=\"/small?order={row}\">Open</a> <button>Cancel</button></td></tr>",
            cities[row % cities.len()],
            row * 7 % 900 + 10,
            row * 13 % 100,
            states[row % states.len()],
        );
    }
    page + "</tbody></table></body></html>\n"
}
