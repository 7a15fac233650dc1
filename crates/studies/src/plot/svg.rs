//! A few elements of SVG.

use std::fmt::Write as _;

/// Where text is anchored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing while it grows.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    body: String,
}

/// Size, weight and colour of text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Font {
    pub size: f64,
    pub bold: bool,
    pub colour: &'static str,
}

impl Drawing {
    // Writing to a string cannot fail.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), (colour, width): (&str, f64)) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub fn path(&mut self, points: &[(f64, f64)], (colour, width): (&str, f64), dashed: bool) {
        let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}/>",
            places.join(" ")
        );
    }

    pub fn area(&mut self, points: &[(f64, f64)], (fill, opacity): (&str, f64)) {
        let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.body,
            "<polygon points=\"{}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>",
            places.join(" ")
        );
    }

    pub fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), (fill, opacity): (&str, f64)) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>",
            corner.0,
            corner.1,
            size.0.max(0.0),
            size.1.max(0.0)
        );
    }

    /// A point; the shape goes with the colour, so that a print in grey is read too.
    pub fn point(&mut self, (x, y): (f64, f64), index: usize) {
        let colour = super::colour(index);
        let style = format!("fill=\"{colour}\" stroke=\"white\" stroke-width=\"0.8\"");
        let corners = |corners: &[(f64, f64)]| {
            corners.iter().map(|(a, b)| format!("{:.1},{:.1}", x + a, y + b)).collect::<Vec<_>>().join(" ")
        };
        let _ = match index % 4 {
            0 => writeln!(self.body, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" {style}/>"),
            1 => writeln!(
                self.body,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6.2\" height=\"6.2\" {style}/>",
                x - 3.1,
                y - 3.1
            ),
            2 => {
                let places = corners(&[(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)]);
                writeln!(self.body, "<polygon points=\"{places}\" {style}/>")
            }
            _ => {
                let places = corners(&[(0.0, -4.2), (4.0, 3.2), (-4.0, 3.2)]);
                writeln!(self.body, "<polygon points=\"{places}\" {style}/>")
            }
        };
    }

    pub fn text(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor, font: Font) {
        self.place_text(&format!("x=\"{x:.1}\" y=\"{y:.1}\""), text, anchor, font);
    }

    /// Text from the bottom to the top.
    pub fn upright_text(&mut self, (x, y): (f64, f64), text: &str, font: Font) {
        self.place_text(
            &format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\""),
            text,
            Anchor::Middle,
            font,
        );
    }

    fn place_text(&mut self, place: &str, text: &str, anchor: Anchor, font: Font) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if font.bold { " font-weight=\"600\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<text {place} text-anchor=\"{anchor}\" font-size=\"{}\" fill=\"{}\"{weight}>{}</text>",
            font.size,
            font.colour,
            escape(text)
        );
    }

    /// The whole picture.
    pub fn finish(self, (width, height): (f64, f64)) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
