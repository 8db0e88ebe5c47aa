//! The test suite for every backend: the cases of `spec/store.md` in a small scenario language.
//!
//! `conformance!(open)` makes a test of each case; `open` returns a new, empty store. Cases about files and
//! processes are tests of the backend itself.

mod access;
mod atoms;
mod basics;
mod branches;
mod chats;
mod concurrency;
mod drafts;
mod effects;
mod facts_changed;
mod files;
mod folds;
mod following;
mod forgetting;
mod large_steps;
mod marked;
mod memory;
mod outbox;
mod reading;
mod runs;
mod several;
mod stage;
mod subagents;
mod tool_turns;
mod turns;

use retake_core::{ConversationId, Receipt, SayRequest};

use crate::Store;
use crate::error::Result;

pub use access::*;
pub use atoms::*;
pub use basics::*;
pub use branches::*;
pub use chats::*;
pub use concurrency::*;
pub use drafts::*;
pub use effects::*;
pub use facts_changed::*;
pub use files::*;
pub use folds::*;
pub use following::*;
pub use forgetting::*;
pub use large_steps::*;
pub use marked::*;
pub use memory::*;
pub use outbox::*;
pub use reading::*;
pub use runs::*;
pub use several::*;
pub use stage::Stage;
pub use subagents::*;
pub use tool_turns::*;
pub use turns::*;

impl Store {
    /// Appends several messages in order, all or none; at least one.
    pub async fn say_all(&self, conversation: ConversationId, says: Vec<SayRequest>) -> Result<Receipt> {
        self.write(move |context| {
            let receipts = says.into_iter().map(|say| context.say(conversation, say));
            let receipts = receipts.collect::<Result<Vec<_>>>()?;
            let entries = receipts.iter().flat_map(|receipt| receipt.entries.clone()).collect();
            Ok(Receipt { entries, ..receipts.into_iter().next_back().expect("BUG: no message is said") })
        })
        .await
    }
}

/// Makes a test of every case that applies to all backends. `$open` is an expression that returns a new store as
/// `Arc<Store>`, in a pair with a value that must live as long.
#[macro_export]
macro_rules! conformance {
    ($open:expr) => {
        $crate::conformance!(@ $open;
            store_case_01_a_rewind_reaches_every_projection
            store_case_02_rewind_to_the_first_turn_empties
            store_case_03_what_was_taken_back_is_a_branch
            store_case_04_a_tool_call_and_its_result_are_one
            trial_09_a_hidden_call_keeps_its_results
            trial_09_step_never_splits_a_call_from_its_results
            trial_09_marks_and_folds_take_all_results_of_a_call
            trial_09_message_between_results_splits_no_call
            store_case_05_a_second_rewind_to_the_same_is_refused
            store_case_06_undo_and_redo_are_the_editors
            store_case_07_the_first_operation_undone
            store_case_08_rewind_off_the_path_is_refused
            store_case_09_folds_follow_the_path
            what_a_summary_may_replace_has_whole_calls_and_not_the_newest_message
            store_case_10_a_hidden_word_never_stays_in_a_summary
            store_case_11_rewind_fold_redo
            trial_15_a_fold_that_equals_the_one_in_force_changes_nothing
            store_case_12_marks_and_undo
            store_case_13_show_tells_hidden_from_rewound
            store_case_14_the_next_message_is_normal
            store_case_15_alternatives
            store_case_16_chinese_words
            store_case_17_context_and_previews_show_nothing_rewound
            store_case_18_an_image_comes_back_whole
            store_case_19_order_is_by_path
            store_case_20_platform_ids
            store_case_21_many_writers_and_no_gap
            store_case_21_of_two_rewinds_one_wins
            store_case_22_the_same_request_gets_the_same_receipt
            trial_12_a_request_that_changed_nothing_is_remembered
            store_case_25_forks
            store_case_27_pages
            store_case_28_catching_up
            marked_entries_are_listed_by_turns
            turn_with_a_hidden_opener_is_found
            any_entry_of_a_turn_names_its_alternatives
            operations_show_the_tip_that_they_led_to
            several_steps_are_listed_one_by_one_and_counted_together
            id_prefix_matches_entries_that_the_conversation_knows
            labels_and_titles_are_no_steps
            branch_off_the_path_can_be_labelled
            fork_has_the_results_of_its_calls
            retry_with_its_answer_is_one_step
            run_without_output_is_no_step
            step_compensated_below_a_later_step_is_passed_over_by_undo
            a_late_answer_is_detached
            restore_to_an_unknown_head_is_refused
            later_messages_go_with_an_undo_only_when_requested
            earlier_heads_can_be_read
            erased_words_are_in_no_projection
            search_matches_whole_words
            note_is_found_by_its_whole_name
            workspace_is_identified_by_its_folder
            deltas_add_layers_to_their_paths
            target_lists_the_changes_of_its_own_turn
            delta_of_a_repeated_request_is_stored_once
            an_operation_and_its_files_are_one_step
            git_moves_of_rewound_calls_are_listed
            change_observed_later_belongs_to_its_call
            stale_plan_of_files_changes_nothing
            interrupted_step_leaves_conversation_and_layers_as_before
            wanted_files_of_each_action
            large_step_is_one_step_and_can_be_undone
            large_step_that_is_turned_back_leaves_every_layer_as_it_was
            large_step_whose_layers_have_changed_is_refused_and_changes_nothing
            large_step_without_changes_on_the_disk_sets_its_layers
            erasing_a_text_erases_its_paths_in_large_steps
            a_call_may_change_several_workspaces
            changes_in_several_workspaces_are_one_step
            interrupted_step_is_reverted_in_all_workspaces
            erasing_a_call_erases_its_file_changes
            erasing_a_text_erases_files_that_contain_it
            erase_is_refused_while_a_rewind_is_unfinished
            old_captures_are_removed_by_age
            forgotten_workspace_leaves_no_captures_and_no_changes
            the_last_fact_on_the_path_counts
            rewind_lists_the_facts_that_leave_the_path
            facts_follow_restore_and_erase
            remembered_fact_counts_while_its_entry_does
            forgotten_fact_returns_with_a_rewind_of_its_forgetting
            remembered_facts_are_of_a_folder_or_of_all
            recalled_facts_have_the_words_of_now
            moves_count_the_facts_that_go_and_come
            another_answer_has_other_facts
            marks_count_the_facts_that_go_and_come
            fact_comes_with_the_rewind_of_what_forgets_it
            fact_that_a_fork_has_neither_goes_nor_comes
            erasures_count_the_facts_that_go_and_come
            call_is_recorded_once_and_ends_with_its_result
            plan_names_effects_that_outlive_a_rewind
            equal_call_after_a_rewind_is_recognised
            one_run_works_and_one_waits
            steps_of_runs_are_all_or_none
            waiting_messages_are_stored_once
            rewind_before_a_run_ends_it
            permissions_and_waiting_messages_with_an_erased_text_are_erased
            every_commit_has_a_revision_and_an_event_in_order
            subscriber_of_all_conversations_gets_every_event_or_a_notice_of_missed_ones
            archived_conversation_is_only_left_out_of_the_list
            drafts_are_stored_outside_of_the_log
            draft_of_a_new_conversation_belongs_to_its_folder
            drafts_that_contain_an_erased_text_are_removed
            call_of_a_run_that_is_over_is_refused
            the_ledger_of_what_is_erased_names_nothing
            the_same_request_restores_once
            full_export_has_ledger_runs_and_permissions
            deliveries_follow_the_changes
            undo_before_the_claim_cancels_and_after_it_owes_the_opposite
            delivery_that_was_read_before_a_step_is_not_claimed_after_it
            claimed_delivery_is_delivered_again_with_its_id
            delivery_that_fails_for_good_is_passed_over_and_listed
            texts_are_read_when_they_are_sent
            destination_is_told_from_its_beginning_on
            ends_of_turns_are_told
            subagent_counts_while_its_call_does
            changes_of_a_subagent_belong_to_the_call_that_started_it
            change_whose_every_candidate_is_reverted_is_certain
            erasing_a_call_or_its_result_erases_the_subagent
            token_is_found_by_its_digest_until_it_is_revoked
            operation_records_its_principal
            account_belongs_to_one_gateway_until_its_lease_ends
            cursor_and_wrong_codes_survive_a_change_of_the_gateway
            first_record_of_an_event_counts
            old_events_are_forgotten_by_age
            event_stays_known_after_a_rewind_and_after_rebinding
            place_is_bound_to_one_conversation
            hold_is_in_force_until_its_time
            person_is_known_by_the_id_of_an_account
            message_is_recorded_in_the_transaction_of_its_entry
            waiting_message_is_known_before_it_has_an_entry
            answer_to_a_chat_is_planned_in_its_transaction
            only_answers_to_turns_of_a_chat_are_posted
            gateways_case_38_answers_that_wait_for_a_day_are_sent_only_when_a_person_says_so
            gateways_case_38_question_that_could_not_be_posted_is_asked_again
            answer_goes_to_the_place_of_its_turn
            leased_work_is_given_again_when_its_lease_ends
            parts_of_an_answer_are_sent_in_order
            refused_part_is_reported_and_the_rest_is_sent
            lost_answer_is_looked_for_and_never_planned_again
            post_is_not_sent_before_the_stated_time
            report_changes_only_posts_of_its_account
            notice_is_sent_and_no_rewind_takes_it_back
            post_that_was_not_sent_is_cancelled_by_a_rewind
            rewind_deletes_the_posts_of_its_turns_and_tells_their_number
            gateways_case_73_notice_of_a_step_goes_after_a_minute_where_others_read_it
            question_becomes_its_answer_and_a_removed_one_asks_nothing
            notice_of_a_step_is_edited_after_ten_seconds
            step_has_one_notice_in_each_place
            post_on_its_way_is_deleted_when_its_id_is_known
            refused_request_of_a_rewound_turn_is_cancelled
            lost_post_that_is_not_there_is_gone
            part_after_a_post_in_doubt_is_sent
            post_that_was_deleted_before_its_id_was_known_is_gone
            undo_cancels_only_deletions_that_did_not_run
            second_rewind_deletes_only_its_own_posts
            dropped_and_hidden_answers_leave_the_chat
            retried_answer_is_deleted_and_the_new_one_is_sent
            fork_answers_nobody_in_its_parents_place
            post_that_cannot_be_deleted_stays_with_its_cause
            next_work_is_that_of_the_earliest_post
            gateways_case_77_erasure_takes_back_posts_and_overwrites_their_digests
            erasure_in_a_fork_takes_back_the_post_of_its_parent
            erasure_overwrites_digests_of_messages_and_names_in_notices
            gateways_case_89_imported_chat_is_history
            gateways_case_90_chat_of_a_bad_export_is_refused
            export_has_the_posts_of_a_long_chat_in_pieces
        );
    };
    (@ $open:expr; $($case:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (store, _alive) = $open;
                $crate::conformance::$case(store).await;
            }
        )*
    };
}
