//! Token vectors as they are kept and stored.

use cornu_rerank::{Precision, QueryTokens, TokenMatrix, TokensError};
use ndarray::{Array2, arr2};
use proptest::prelude::*;

const ALL: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Int8];

proptest! {
    #[test]
    fn bytes_come_back_as_they_were(
        rows in 0_usize..9,
        dimension in 1_usize..20,
        values in prop::collection::vec(-2.0_f32..2.0, 97),
    ) {
        let rows = Array2::from_shape_fn((rows, dimension), |(i, j)| values[(i * 20 + j) % 97]);
        for precision in ALL {
            let tokens = TokenMatrix::new(rows.view(), precision).unwrap();
            prop_assert_eq!((tokens.len(), tokens.dimension()), rows.dim());
            let bytes = tokens.to_bytes();
            prop_assert_eq!(bytes.len(), 8 + precision.bytes(rows.nrows(), dimension));
            prop_assert_eq!(&TokenMatrix::from_bytes(&bytes).unwrap(), &tokens);
            // A byte more or less is another length than the header says.
            for wrong in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
                let read = TokenMatrix::from_bytes(wrong);
                let refused = matches!(read, Err(TokensError::Bytes { .. }));
                prop_assert!(refused);
            }
        }
    }

    #[test]
    fn no_bytes_make_reading_fail_otherwise(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(tokens) = TokenMatrix::from_bytes(&bytes) {
            prop_assert_eq!(tokens.to_bytes(), bytes);
        }
    }

    /// 8 bits: half a step of the token's scale, which is its largest component over 127.
    #[test]
    fn eight_bits_are_off_by_at_most_half_a_step(row in prop::collection::vec(-1.0_f32..1.0, 1..64)) {
        let rows = Array2::from_shape_vec((1, row.len()), row.clone()).unwrap();
        let tokens = TokenMatrix::new(rows.view(), Precision::Int8).unwrap();
        let bytes = tokens.to_precision(Precision::F32).to_bytes();
        let step = row.iter().fold(0.0_f32, |a, x| a.max(x.abs())) / 127.0;
        for (x, kept) in row.iter().zip(bytes[8..].as_chunks().0) {
            let off = (x - f32::from_le_bytes(*kept)).abs();
            prop_assert!(off <= 0.501 * step, "{off} of {step}");
        }
    }
}

#[test]
fn the_layout_is_written_down() {
    let tokens =
        TokenMatrix::new(arr2(&[[1.0, -0.5], [0.0, 0.0]]).view(), Precision::Int8).unwrap();
    let scale = (1.0_f32 / 127.0).to_le_bytes();
    let expected = [
        &[1, 2, 2, 0, 2, 0, 0, 0][..],
        &scale,
        &[0; 4],
        &[127, 192, 0, 0],
    ]
    .concat();
    assert_eq!(tokens.to_bytes(), expected);
    let tokens = TokenMatrix::new(arr2(&[[1.0, -0.5]]).view(), Precision::F16).unwrap();
    assert_eq!(
        tokens.to_bytes(),
        [1, 1, 2, 0, 1, 0, 0, 0, 0x00, 0x3c, 0x00, 0xb8]
    );
}

/// What may be stored can be read again, up to the largest component and down to the smallest.
#[test]
fn components_of_any_size_come_back() {
    for value in [
        65504.0,
        -65504.0,
        65503.97,
        1.0,
        1e-7,
        1e-30,
        f32::MIN_POSITIVE,
        0.0,
    ] {
        for precision in ALL {
            let tokens = TokenMatrix::new(arr2(&[[value, value / 3.0]]).view(), precision);
            let tokens = tokens.unwrap();
            let read = TokenMatrix::from_bytes(&tokens.to_bytes());
            assert_eq!(read.as_ref(), Ok(&tokens), "{value} {precision:?}");
            for other in ALL {
                let bytes = tokens.to_precision(other).to_bytes();
                assert!(TokenMatrix::from_bytes(&bytes).is_ok(), "{value} {other:?}");
            }
        }
    }
    // No token has the code −128: its largest component has ±127.
    let tokens = TokenMatrix::new(arr2(&[[0.5, 1.0]]).view(), Precision::Int8).unwrap();
    let mut bytes = tokens.to_bytes();
    if let Some(code) = bytes.last_mut() {
        *code = 0x80;
    }
    let read = TokenMatrix::from_bytes(&bytes);
    assert!(matches!(read, Err(TokensError::Bytes { .. })));
}

#[test]
fn broken_bytes_are_named() {
    let good = TokenMatrix::new(arr2(&[[1.0]]).view(), Precision::F16)
        .unwrap()
        .to_bytes();
    let with = |at: usize, byte| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        TokenMatrix::from_bytes(&bytes).unwrap_err().to_string()
    };
    assert!(with(0, 9).contains("another version"));
    assert!(with(1, 9).contains("precision is unknown"));
    assert!(with(4, 2).contains("length is not"));
    assert!(with(9, 0x7c).contains("not finite"));
    assert!(
        TokenMatrix::from_bytes(&[1, 1, 0, 0, 9, 0, 0, 0]).is_err(),
        "tokens of no dimension"
    );
}

#[test]
fn what_has_no_finite_product_is_refused() {
    for value in [f32::NAN, f32::INFINITY, -1e6] {
        let rows = arr2(&[[0.5, 0.5], [0.5, value]]);
        for precision in ALL {
            let made = TokenMatrix::new(rows.view(), precision);
            assert!(
                matches!(made, Err(TokensError::NotFinite { token: 1, .. })),
                "{made:?}"
            );
        }
        let made = QueryTokens::new(rows.view());
        assert!(matches!(made, Err(TokensError::NotFinite { token: 1, .. })));
    }
    let rows = arr2(&[[0.5, 0.5]]);
    let mask = TokenMatrix::masked(rows.view(), &[true, false], Precision::F32);
    assert_eq!(mask, Err(TokensError::Mask { mask: 2, tokens: 1 }));
    assert!(QueryTokens::masked(rows.view(), &[]).is_err());
    let wide = Array2::<f32>::zeros((1, 70_000));
    let wide = TokenMatrix::new(wide.view(), Precision::Int8);
    assert!(matches!(
        wide,
        Err(TokensError::TooLarge {
            dimension: 70_000,
            ..
        })
    ));
}
