//! The sentences for what keeps a gateway from its work, and what a person can do.

use crate::reply::GatewayTrouble;

/// What keeps a gateway from its work, without a full stop.
pub fn gateway_trouble(it: &GatewayTrouble) -> String {
    match it {
        GatewayTrouble::BadToken => "the platform does not accept the token".to_owned(),
        GatewayTrouble::Occupied => "another program uses this account".to_owned(),
        GatewayTrouble::Held { holder } => format!("another gateway has the account: {holder}"),
        GatewayTrouble::NotPermitted { problem } => {
            format!("the owner of the conversations refused the gateway: {problem}")
        }
        GatewayTrouble::BadAccount => "the file of the account can't be used".to_owned(),
        GatewayTrouble::UnreadableAccount => "the file of the account can't be read now".to_owned(),
        GatewayTrouble::Unreachable => "the platform can't be reached".to_owned(),
        GatewayTrouble::Refused => "the platform refuses the requests".to_owned(),
        GatewayTrouble::Failed => "an error in Retake has ended it".to_owned(),
        GatewayTrouble::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// What a person can do about it. `None` if there is nothing but to wait.
pub fn gateway_remedy(it: &GatewayTrouble) -> Option<&'static str> {
    match it {
        GatewayTrouble::BadToken => Some("remove the account, and add it with a new token"),
        GatewayTrouble::Occupied => Some("stop the other program that uses this account"),
        GatewayTrouble::Held { .. } => Some("stop the other gateway, or wait a minute if it has ended"),
        GatewayTrouble::NotPermitted { problem } if problem == "owner_version" => Some(
            "start the agent and the gateway with the same version of retake: `retake stop`, then run it again",
        ),
        GatewayTrouble::NotPermitted { .. } => {
            Some("remove the account, and add it again: its token may be revoked")
        }
        GatewayTrouble::BadAccount => Some("remove the account, and add it again"),
        GatewayTrouble::UnreadableAccount => Some("check the disk and who may read the file"),
        GatewayTrouble::Failed => Some("the log of the owner says more"),
        GatewayTrouble::Unreachable | GatewayTrouble::Refused | GatewayTrouble::Unknown => None,
    }
}
