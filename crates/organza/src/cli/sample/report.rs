//! What is said of private chains: the plan, the result, the rehearsal.

use organza::private_chains::{ChainFit, ChainPrivacy};
use organza_curator::chains::kernels::ChainInfo;
use organza_curator::chains::{ChainDesign, ChainPlan, ChainSettings, Trial};
use organza_curator::ledger::{Charge, Preview};
use organza_release::loss::Mechanism;
use serde_json::{Value, json};

use crate::cli::fit::report::summary_table;
use crate::cli::release::plan::explain_preview;
use crate::cli::terminal::{prose, short, table};

/// The table for a person.
pub fn table_of(fit: &ChainFit) -> String {
    let head = format!(
        "{} records; {} by {}, ({}, {})-differentially private as a whole",
        fit.records,
        fit.plan.model,
        fit.plan.request.method,
        short(fit.plan.request.budget.epsilon),
        short(fit.plan.request.budget.delta),
    );
    let foot = format!("{} chains of {} draws{}", fit.summary.chains, fit.summary.draws, rates(fit));
    prose(&head) + &summary_table(&fit.summary, &[]) + &prose(&foot)
}

/// Acceptance and clipped records, as far as they are known.
fn rates(fit: &ChainFit) -> String {
    let known = [
        ("accepted", ChainInfo::ACCEPTANCE, fit.plan.request.method.is_exact()),
        ("gradients clipped", ChainInfo::CLIPPED_GRADIENTS, true),
        ("ratios clipped", ChainInfo::CLIPPED_RATIOS, true),
    ];
    let known = known.into_iter().filter(|(.., has)| *has);
    let shown = known.map(|(what, name, _)| (what, fit.share(name)));
    let shown = shown.filter(|(_, share)| !share.is_nan());
    // The shares carry noise and may come out a little below 0.
    shown.map(|(what, share)| format!("; {what} {:.1}%", 100.0 * share.max(0.0))).collect()
}

/// The plan for machines.
pub fn plan_json(plan: &ChainPlan, charge: &Charge, preview: Option<&Preview>) -> Value {
    json!({
        "settings": plan.settings(),
        "privacy": ChainPrivacy::from(charge),
        "posterior_sd_guess": plan.guess.posterior_sd,
        "effective_draws_guess": plan.effective_draws(),
        "ledger": preview,
    })
}

/// The plan for a person.
pub fn explain_plan(
    design: &ChainDesign,
    plan: &ChainPlan,
    charge: &Charge,
    preview: Option<&Preview>,
) -> String {
    let settings = plan.settings();
    let by = match charge.mechanism {
        Mechanism::Gaussian { mu } => format!("Gaussian noise, mu = {}", short(mu)),
        _ => "Gaussian noise on samples of the records".into(),
    };
    let mut text = format!(
        "regression   {}; {} by {}, {} parameters, {} records\nguarantee    ({}, {})-differential privacy, neighbours \
         substitute; {by}\nchains       {} of {} steps, of which {} are warm-up; all are paid for\n",
        design.domain().formula,
        plan.model,
        settings.method,
        design.dimension(),
        settings.records,
        short(settings.epsilon),
        short(settings.delta),
        settings.chains,
        settings.steps,
        settings.warmup,
    );
    if settings.pilot_steps > 0 {
        text += &format!(
            "start        the end of {} noisy gradient steps, for a fifth of the budget\n",
            settings.pilot_steps
        );
    }
    text += &format!("steps        {}\n", step_words(&settings, plan.guess.posterior_sd));
    for (what, clip, noise) in [
        ("gradients", settings.gradient_clip, settings.gradient_noise),
        ("ratios", settings.ratio_clip, settings.ratio_noise),
    ] {
        if let (Some(clip), Some(noise)) = (clip, noise) {
            text += &format!("{what:<13}clipped to {}, noise of {} clip bounds\n", short(clip), short(noise));
        }
    }
    text +=
        &format!("expected     about {:.0} effective draws of the worst parameter\n", plan.effective_draws());
    text + &preview.map_or(String::new(), explain_preview)
}

fn step_words(settings: &ChainSettings, posterior_sd: f64) -> String {
    let size = short(settings.step_size);
    let leaps = settings.leapfrog_steps.map(|leaps| format!("{leaps} leapfrog steps of up to {size}"));
    let walk = settings.walk.map(|walk| format!("random walk ({walk}) of {size}"));
    let langevin = settings.langevin.map(|form| format!("Langevin steps of {size} ({form})"));
    let friction =
        settings.friction.map(|friction| format!("thermostat steps of {size}, friction {}", short(friction)));
    let rate =
        settings.rate.map_or(String::new(), |rate| format!(", each record with probability {}", short(rate)));
    let kind = leaps.or(walk).or(langevin).or(friction).unwrap_or(size);
    format!("{kind}{rate}; the posterior sd is guessed at {}", short(posterior_sd))
}

/// The trials of a rehearsal for a person, with the flags of the best.
pub fn trials_table(trials: &[Trial]) -> String {
    let optional = |value: Option<f64>| value.map_or(String::new(), short);
    let percent =
        |value: f64| if value.is_nan() { String::new() } else { format!("{:.0}%", 100.0 * value.max(0.0)) };
    let rows = trials.iter().map(|trial| {
        vec![
            short(trial.step_size),
            trial.leapfrog_steps.map_or(String::new(), |leaps| leaps.to_string()),
            optional(trial.gradient_clip.or(trial.ratio_clip)),
            format!("{:.0}", trial.effective),
            format!("{:.2}", trial.error),
            percent(trial.acceptance),
            percent(trial.clipped_gradients.max(trial.clipped_ratios)),
        ]
    });
    let header = ["step size", "leapfrog", "clip", "effective draws", "error / sd", "accepted", "clipped"];
    let best = trials.first().map_or(String::new(), |trial| format!("best: {}\n", flags(trial)));
    format!("{}{best}", table(&header, rows))
}

/// The flags that repeat a trial.
fn flags(trial: &Trial) -> String {
    let mut flags = format!("--step-size {}", short(trial.step_size));
    if let Some(leaps) = trial.leapfrog_steps {
        flags += &format!(" --leapfrog-steps {leaps}");
    }
    for (flag, clip) in [("--gradient-clip", trial.gradient_clip), ("--ratio-clip", trial.ratio_clip)] {
        flags += &clip.map_or(String::new(), |clip| format!(" {flag} {}", short(clip)));
    }
    flags
}

/// The trials for machines, the most promising first.
pub fn trials_json(records: u64, trials: &[Trial]) -> Value {
    json!({ "records": records, "flags": trials.first().map(flags), "trials": trials })
}
