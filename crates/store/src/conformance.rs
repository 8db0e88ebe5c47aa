//! The suite that every backend runs: the cases of `spec/store.md`, told in a small scenario language.
//!
//! `conformance!(open)` makes a test of each, where `open` gives a new, empty store. Cases that are about files and
//! processes are the backend's own tests.

mod agent;
mod atoms;
mod basics;
mod branches;
mod concurrency;
mod drafts;
mod effects;
mod files;
mod folds;
mod following;
mod forgetting;
mod large_steps;
mod marked;
mod reading;
mod runs;
mod several;
mod stage;
mod turns;

pub use agent::*;
pub use atoms::*;
pub use basics::*;
pub use branches::*;
pub use concurrency::*;
pub use drafts::*;
pub use effects::*;
pub use files::*;
pub use folds::*;
pub use following::*;
pub use forgetting::*;
pub use large_steps::*;
pub use marked::*;
pub use reading::*;
pub use runs::*;
pub use several::*;
pub use stage::Stage;
pub use turns::*;

/// Makes a test of every case that holds for every backend. `$open` is an expression that gives a new store as
/// `Arc<dyn Store>`, with whatever must outlive it, as a pair.
#[macro_export]
macro_rules! conformance {
    ($open:expr) => {
        $crate::conformance!(@ $open;
            store_case_01_a_rewind_reaches_every_projection
            store_case_02_rewind_to_the_first_turn_empties
            store_case_03_what_was_taken_back_is_a_branch
            store_case_04_a_tool_call_and_its_result_are_one
            trial_09_a_hidden_call_keeps_its_results
            trial_09_a_step_never_parts_a_call_from_its_results
            trial_09_marks_and_folds_take_all_results_of_a_call
            trial_09_what_is_said_between_results_parts_nothing
            store_case_05_a_second_rewind_to_the_same_is_refused
            store_case_06_undo_and_redo_are_the_editors
            store_case_07_the_first_operation_undone
            store_case_08_rewind_off_the_path_is_refused
            store_case_09_folds_follow_the_path
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
            what_is_marked_is_listed_by_turns
            a_turn_is_found_though_its_opener_is_hidden
            any_entry_of_a_turn_names_its_alternatives
            operations_say_where_they_led
            several_steps_are_told_one_by_one_and_counted_in_all
            a_prefix_counts_what_the_conversation_knows
            labels_and_titles_are_no_steps
            a_branch_that_was_left_can_be_named
            a_fork_takes_the_results_of_its_calls_along
            a_regeneration_is_one_step
            what_came_to_nothing_is_no_step
            a_step_compensated_under_a_later_one_is_passed_over
            a_late_answer_is_detached
            restore_needs_a_real_head
            what_arrived_since_goes_along_only_when_asked
            earlier_heads_can_be_read
            erased_words_are_gone_from_every_reading
            search_speaks_words
            a_workspace_is_its_folder
            deltas_lie_on_their_paths
            a_turn_tells_what_it_did_itself
            a_delta_is_stored_once
            an_operation_and_its_files_are_one_step
            what_calls_moved_in_git_is_told_of_what_is_taken_back
            what_is_seen_later_is_the_call_s_that_did_it
            a_stale_file_half_changes_nothing
            what_is_turned_back_is_as_if_it_had_never_been
            what_an_action_wants_of_files
            large_step_is_one_step_and_can_be_undone
            large_step_that_is_turned_back_leaves_every_layer_as_it_was
            large_step_whose_layers_have_changed_is_refused_and_changes_nothing
            large_step_without_changes_on_the_disk_sets_its_layers
            erasing_goes_over_large_steps
            a_call_may_change_several_workspaces
            halves_in_several_workspaces_are_one_step
            what_is_turned_is_turned_in_all_workspaces
            erasing_a_call_takes_what_it_did_to_files
            erasing_a_text_takes_the_files_that_hold_it
            nothing_is_erased_under_an_open_rewind
            captures_go_by_age
            a_workspace_is_forgotten
            the_last_fact_on_the_path_counts
            what_is_taken_back_tells_what_it_made_known
            facts_go_along_with_what_is_restored_and_erased
            a_call_is_written_down_once_and_ends_with_its_result
            effects_that_outlive_a_rewind_are_told
            an_equal_call_is_known_again_after_a_rewind
            one_runs_and_one_waits
            steps_of_runs_are_all_or_none
            words_that_wait_are_said_once
            a_step_back_ends_the_run_that_stood_there
            permissions_and_waiting_words_are_erased_by_their_text
            every_commit_has_a_revision_and_is_told_in_order
            who_follows_all_hears_of_each_and_is_told_what_was_missed
            what_is_put_away_is_left_out_of_the_list_alone
            drafts_are_beside_the_log
            drafts_of_what_is_not_begun_are_the_folders
            drafts_go_with_a_text_that_is_erased
            a_call_of_a_run_that_is_over_is_not_begun
            the_ledger_of_what_is_erased_names_nothing
            the_same_request_restores_once
            a_full_export_brings_ledger_runs_and_permissions_along
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
