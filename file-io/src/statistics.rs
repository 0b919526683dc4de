//! Means with their intervals.

/// Of Student's distribution, two-sided 95 %, for 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
const T_BEYOND: f64 = 2.042;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    /// Half of the 95 % interval; None below two values. Above 31 values a little too wide.
    pub(crate) half: Option<f64>,
}

/// None where there are no values.
pub(crate) fn mean(values: &[f64]) -> Option<Mean> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let half = (n > 1).then(|| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (n - 1) as f64 / n as f64).sqrt();
        error * T.get(n - 2).copied().unwrap_or(T_BEYOND)
    });
    Some(Mean { mean, half })
}

/// The geometric mean of positive values.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<_> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(|found| found.mean.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_interval() {
        // sd 1, n 3: 4.303 / sqrt(3).
        let found = mean(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(found.mean, 2.0);
        assert!((found.half.unwrap() - 2.4843).abs() < 1e-3);
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_nothing() {
        assert_eq!(
            mean(&[5.0]),
            Some(Mean {
                mean: 5.0,
                half: None
            })
        );
        assert_eq!(mean(&[]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn many_values_take_the_last_quantile() {
        let values: Vec<_> = (0..100).map(f64::from).collect();
        assert!((mean(&values).unwrap().half.unwrap() - 5.924).abs() < 1e-2);
    }

    #[test]
    fn ratios_have_a_geometric_mean() {
        assert!((geometric_mean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-12);
    }
}
