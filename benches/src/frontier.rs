//! A plot of quality over latency, drawn by hand so that the same figures give the same bytes.

use std::fmt::Write;

use anyhow::{Result, ensure};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 56.0;
/// Okabe and Ito's colours: told apart by most eyes, in print too.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00",
];

/// A figure with its lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontier {
    /// Above the plot.
    pub title: String,
    /// Below the horizontal axis; the axis is logarithmic.
    pub x: String,
    /// Beside the vertical one.
    pub y: String,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
}

/// Points of one kind, joined in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
}

/// One system.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Beside the point.
    pub label: String,
    /// Its cost, above 0.
    pub x: f64,
    /// Its quality.
    pub y: f64,
    /// The interval of its quality.
    pub interval: Option<(f64, f64)>,
}

impl Frontier {
    /// The plot as SVG, without scripts, fonts or anything from elsewhere.
    ///
    /// # Errors
    /// No point at all; a number that is not finite; a cost that has no logarithm.
    pub fn svg(&self) -> Result<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        ensure!(
            points().next().is_some(),
            "{}: there is no point to draw",
            self.title
        );
        for point in points() {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            let finite = [point.x, point.y, low, high]
                .iter()
                .all(|value| value.is_finite());
            ensure!(
                finite && point.x > 0.0,
                "{}: {} is not to be drawn",
                self.title,
                point.label
            );
        }
        let ends = |of: &dyn Fn(&Point) -> (f64, f64)| {
            points()
                .map(of)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| {
                    (low.min(a), high.max(b))
                })
        };
        let x = Axis::logarithmic(ends(&|point| (point.x, point.x)));
        let y = Axis::linear(ends(&|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            (low.min(point.y), high.max(point.y))
        }));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n",
            escaped(&self.title)
        );
        self.frame(&mut out, &x, &y);
        for (at, series) in self.series.iter().enumerate() {
            series.draw(&mut out, at, &x, &y);
        }
        out.push_str("</svg>\n");
        Ok(out)
    }

    /// Axes, ticks and words. Writing to a string cannot fail.
    fn frame(&self, out: &mut String, x: &Axis, y: &Axis) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        text(out, (LEFT, 26.0), "start", "15", &self.title);
        for tick in x.ticks() {
            let at = x.place(tick, LEFT, right);
            line(out, (at, TOP), (at, bottom), "#e6e6e6");
            text(out, (at, bottom + 18.0), "middle", "12", &plain(tick));
        }
        for tick in y.ticks() {
            let at = y.place(tick, bottom, TOP);
            line(out, (LEFT, at), (right, at), "#e6e6e6");
            text(out, (LEFT - 8.0, at + 4.0), "end", "12", &plain(tick));
        }
        line(out, (LEFT, bottom), (right, bottom), "#333333");
        line(out, (LEFT, TOP), (LEFT, bottom), "#333333");
        text(
            out,
            (f64::midpoint(LEFT, right), HEIGHT - 14.0),
            "middle",
            "12",
            &self.x,
        );
        let (at, middle) = (18.0, f64::midpoint(TOP, bottom));
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{middle:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {at:.1} {middle:.1})\">{}</text>",
            escaped(&self.y)
        );
    }
}

impl Series {
    fn draw(&self, out: &mut String, at: usize, x: &Axis, y: &Axis) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let colour = COLOURS[at % COLOURS.len()];
        let place = |point: &Point| (x.place(point.x, LEFT, right), y.place(point.y, bottom, TOP));
        let path: Vec<String> = self
            .points
            .iter()
            .map(|point| {
                let (x, y) = place(point);
                format!("{x:.1},{y:.1}")
            })
            .collect();
        if path.len() > 1 {
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
                path.join(" ")
            );
        }
        for point in &self.points {
            let (cx, cy) = place(point);
            if let Some((low, high)) = point.interval {
                let (low, high) = (y.place(low, bottom, TOP), y.place(high, bottom, TOP));
                line(out, (cx, low), (cx, high), colour);
            }
            let _ = writeln!(
                out,
                "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"{colour}\"><title>{}: {} at {}</title></circle>",
                escaped(&point.label),
                plain(point.y),
                plain(point.x)
            );
            text(out, (cx + 6.0, cy - 6.0), "start", "11", &point.label);
        }
        let row = TOP + 10.0 + 20.0 * at as f64;
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>",
            right + 18.0,
            row - 4.0
        );
        text(out, (right + 28.0, row), "start", "12", &self.name);
    }
}

/// From values to places.
struct Axis {
    low: f64,
    high: f64,
    /// Between two ticks; of a logarithmic axis, in decades.
    step: f64,
    logarithmic: bool,
}

impl Axis {
    /// Whole decades around the values.
    fn logarithmic((low, high): (f64, f64)) -> Self {
        let (low, high) = (low.log10().floor(), high.log10().ceil());
        Self {
            low,
            high: high.max(low + 1.0),
            step: 1.0,
            logarithmic: true,
        }
    }

    /// Whole steps around the values.
    fn linear((low, high): (f64, f64)) -> Self {
        let step = step(high - low);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self {
            low,
            high: if high > low { high } else { low + step },
            step,
            logarithmic: false,
        }
    }

    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let value = if self.logarithmic {
            value.log10()
        } else {
            value
        };
        from + (value - self.low) / (self.high - self.low) * (to - from)
    }

    fn ticks(&self) -> Vec<f64> {
        let count = ((self.high - self.low) / self.step).round() as i32;
        let ticks = (0..=count).map(|at| self.low + self.step * f64::from(at));
        match self.logarithmic {
            true => ticks.map(|tick| 10_f64.powf(tick)).collect(),
            false => ticks.collect(),
        }
    }
}

/// 1, 2 or 5 times a power of ten, about a sixth of the span.
fn step(span: f64) -> f64 {
    let rough = (span / 6.0).max(1e-6);
    let decade = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
    steps
        .into_iter()
        .find(|&step| step >= rough)
        .unwrap_or(decade * 10.0)
}

/// Up to four digits behind the point, without zeros at the end.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(out: &mut String, at: (f64, f64), anchor: &str, size: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>",
        at.0,
        at.1,
        escaped(words)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(label: &str, x: f64, y: f64) -> Point {
        Point {
            label: label.to_owned(),
            x,
            y,
            interval: Some((y - 0.02, y + 0.02)),
        }
    }

    fn plot(points: Vec<Point>) -> Frontier {
        Frontier {
            title: "Quality & cost".to_owned(),
            x: "ms".to_owned(),
            y: "top-1".to_owned(),
            series: vec![
                Series {
                    name: "depth".to_owned(),
                    points,
                },
                Series {
                    name: "one".to_owned(),
                    points: vec![point("a<b", 2.0, 0.4)],
                },
            ],
        }
    }

    #[test]
    fn the_same_figures_give_the_same_bytes_and_words_are_escaped() {
        let drawn = || {
            plot(vec![point("5", 20.0, 0.5), point("50", 180.0, 0.6)])
                .svg()
                .unwrap()
        };
        let svg = drawn();
        assert_eq!(svg, drawn());
        assert!(svg.contains("Quality &amp; cost") && svg.contains("a&lt;b"));
        assert_eq!(
            svg.matches("<polyline").count(),
            1,
            "a single point needs no line"
        );
        assert_eq!(
            svg.matches("<circle").count(),
            5,
            "three points and two legends"
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn better_stands_higher_and_dearer_further_right() {
        let svg = plot(vec![point("5", 20.0, 0.5), point("50", 180.0, 0.6)])
            .svg()
            .unwrap();
        let polyline = svg
            .lines()
            .find(|line| line.starts_with("<polyline"))
            .unwrap();
        let places = polyline.split('"').nth(1).unwrap();
        let places: Vec<f64> = places
            .split([',', ' '])
            .map(|number| number.parse().unwrap())
            .collect();
        assert!(places[2] > places[0] && places[3] < places[1], "{places:?}");
        assert!(places.iter().all(|&place| place > 0.0 && place < WIDTH));
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for wrong in [
            point("a", 0.0, 0.5),
            point("a", 1.0, f64::NAN),
            point("a", f64::INFINITY, 0.5),
        ] {
            assert!(plot(vec![wrong]).svg().is_err());
        }
        let empty = Frontier {
            series: vec![],
            ..plot(vec![])
        };
        assert!(empty.svg().is_err());
        // One point, and points of one height, are drawn.
        assert!(plot(vec![point("a", 2.0, 0.4)]).svg().is_ok());
        let flat = Point {
            interval: None,
            ..point("a", 3.0, 0.4)
        };
        let flat = Frontier {
            series: vec![Series {
                name: "s".to_owned(),
                points: vec![flat],
            }],
            ..plot(vec![])
        };
        assert!(flat.svg().is_ok());
    }

    #[test]
    fn ticks_are_round_numbers() {
        let axis = Axis::linear((0.312, 0.588));
        assert_eq!(
            axis.ticks()
                .iter()
                .map(|&tick| plain(tick))
                .collect::<Vec<_>>(),
            ["0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6"]
        );
        let axis = Axis::logarithmic((0.7, 180.0));
        assert_eq!(axis.ticks(), [0.1, 1.0, 10.0, 100.0, 1000.0]);
    }
}
