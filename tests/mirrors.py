"""Modules without a test file of their own name: the file that tests them, or why none does.

`appliance/a/b.py` is tested by `tests/a/test_b.py`, `lab/a/b.py` by `tests/lab/a/test_b.py`. So
the tests of a module are found by its name. Each exception has a row here: the file that covers
it, or a reason why none does. tests/test_project.py checks the table.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
LAUNCHER = "tests/runtime/supervision/test_launcher.py"
DATA = "only fields, without limits or methods"
BENCH = "its measurement is the test: `make bench` runs it"
PROTOCOL = "an interface: its implementations have the tests"

ELSEWHERE = {
    "appliance/__main__.py": "tests/cli/test_command.py",
    "appliance/cli/machine_checks.py": "tests/cli/test_check.py",
    "appliance/dialog/actions.py": DATA,
    "appliance/dialog/on_trial.py": "tests/dialog/test_trial_relay.py",
    "appliance/hear/speech_phase.py": DATA,
    "appliance/hear/words/interfaces.py": PROTOCOL,
    "appliance/language/patterns.py": "tests/language/test_fluent_file.py",
    "appliance/page/response_headers.py": "tests/page/test_http_server.py",
    "appliance/hear/bargein/enrolment_lines.py": "tests/hear/bargein/test_enrolment_program.py",
    "appliance/hear/learning_program.py": "tests/hear/test_enrolling.py",
    "appliance/messages/enrolling.py": "tests/messages/test_registry.py",
    "appliance/messages/hearing.py": "tests/messages/test_registry.py",
    "appliance/messages/message.py": "tests/messages/test_registry.py",
    "appliance/messages/playback.py": "tests/messages/test_registry.py",
    "appliance/messages/speech.py": "tests/messages/test_registry.py",
    "appliance/messages/supervision.py": "tests/messages/test_registry.py",
    "appliance/messages/tools.py": "tests/messages/test_registry.py",
    "appliance/messages/trying.py": "tests/messages/test_registry.py",
    "appliance/messages/viewing.py": "tests/messages/test_registry.py",
    "appliance/models/encoder_graph/conformer.py": "tests/think/test_streaming_encoder.py",
    "appliance/models/encoder_graph/make.py": "tests/think/test_encoder_files.py",
    "appliance/models/mimi_graph/make.py": "tests/models/mimi_graph/test_decoder.py",
    "appliance/models/mimi_graph/safetensors.py": "tests/models/mimi_graph/test_weights.py",
    "appliance/models/mimi_graph/streams.py": "tests/models/mimi_graph/test_decoder.py",
    "appliance/models/mimi_graph/transformer.py": "tests/models/mimi_graph/test_decoder.py",
    "appliance/models/onnx_graph/graph.py": "tests/think/test_streaming_encoder.py",
    "appliance/page/try_state.py": "tests/page/test_on_try.py",
    "appliance/runtime/ipc/ring_handles.py": "tests/runtime/ipc/test_ring.py",
    "appliance/runtime/ipc/state_size.py": "tests/runtime/ipc/test_token_states.py",
    "appliance/sound_format.py": "tests/test_pcm.py",
    "appliance/voice/protocol_version.py": "tests/voice/test_protocol.py",
    "appliance/runtime/restore_files.py": "tests/cli/test_restore.py",
    "appliance/models/model_request.py": "tests/cli/test_requested_model.py",
    "appliance/models/model_disk.py": "tests/models/test_store.py",
    "appliance/models/placement.py": "tests/models/test_parts.py",
    "appliance/page/own_places.py": DATA,
    "appliance/provision/improv/bluez.py": "tests/provision/improv/test_service.py",
    "appliance/provision/setup_invitations.py": "tests/provision/test_setup_session_page.py",
    "appliance/provision/setup_networks.py": PROTOCOL,
    "appliance/runtime/handed_changes.py": "tests/runtime/test_settings_access.py",
    "appliance/runtime/memory_files.py": "tests/runtime/test_factory_reset.py",
    "appliance/runtime/supervision/launch.py": "tests/runtime/supervision/test_orphans.py",
    "appliance/runtime/supervision/launch_messages.py": LAUNCHER,
    "appliance/runtime/supervision/parent_death.py": "tests/runtime/supervision/test_orphans.py",
    "appliance/settings/machine.py": "tests/settings/test_loading.py",
    "appliance/settings/network_change.py": "tests/page/test_on_network.py",
    "appliance/settings/section.py": "tests/settings/test_loading.py",
    "appliance/settings/tools.py": DATA,
    "appliance/tools/guard/english.py": "tests/tools/test_request_corpus.py",
    "appliance/tools/guard/english_words.py": "tests/tools/test_request_corpus.py",
    "appliance/tools/guard/german.py": "tests/tools/test_request_corpus.py",
    "appliance/tools/guard/german_words.py": "tests/tools/test_request_corpus.py",
    "appliance/tools/guard/other_languages.py": "tests/tools/test_request_corpus.py",
    "appliance/tools/request_grammar.py": "tests/tools/test_german_requests.py",
    "appliance/think/abandoned.py": "an exception without a field",
    "appliance/think/encoded_sound.py": PROTOCOL,
    "appliance/think/interface.py": PROTOCOL,
    "appliance/update/look_request.py": "tests/cli/test_requested_look.py",
    "appliance/update/progress.py": DATA,
    "appliance/voice/engine/pack.py": "tests/voice/engine/test_installer.py",
    "appliance/voice/head/head_manifest.py": "tests/voice/head/test_head_stream.py",
    "appliance/voice/head/manifest.py": "tests/voice/head/test_codec.py",
    "appliance/voice/child_pipes.py": "tests/voice/test_program.py",
    "appliance/voice/head_program.py": "tests/voice/test_head_voice.py",
    "appliance/voice/head/networks.py": "tests/voice/head/test_head_stream.py",
    "appliance/voice/head/speech_head.py": "tests/voice/head/test_head_stream.py",
    "appliance/voice/head/timeline.py": "tests/voice/head/test_head_stream.py",
    "appliance/voice/interface.py": PROTOCOL,
    "appliance/voice/judge_program.py": "tests/voice/test_speech_judge.py",
    "appliance/voice/open_sentence.py": "tests/voice/test_speech_queue.py",
    "appliance/voice/sentence_gap.py": "tests/voice/test_speech_queue.py",
    "appliance/voice/speech_aligner.py": "tests/voice/test_speech_judge.py",
    "appliance/voice/waiting_sound.py": "tests/voice/test_speech_queue.py",
    "lab/bench/head_weights.py": "tests/lab/bench/test_head.py",
    "lab/bench/aec3.py": BENCH,
    "lab/bench/answer_events.py": "tests/lab/bench/test_answer_full.py",
    "lab/bench/answer_tables.py": "tests/lab/bench/test_answer_goals.py",
    "lab/bench/answer_thinker.py": "tests/lab/bench/test_answer_full.py",
    "lab/bench/bakeoff_job.py": "tests/lab/bench/test_bakeoff.py",
    "lab/bench/bakeoff_litert.py": "tests/lab/bench/test_bakeoff.py",
    "lab/bench/bakeoff_run.py": "tests/lab/bench/test_bakeoff.py",
    "lab/bench/link.py": BENCH,
    "lab/bench/model_drawing.py": "tests/lab/bench/test_model_parts.py",
    "lab/bench/model_attention.py": "tests/lab/bench/test_model_parts.py",
    "lab/bench/model_batches.py": "tests/lab/bench/test_model_parts.py",
    "lab/bench/model_encoder.py": BENCH,
    "lab/bench/model_sequence.py": "tests/lab/bench/test_model_parts.py",
    "lab/bench/model_taps.py": "tests/lab/bench/test_model_parts.py",
    "lab/peers/echo_front.py": "tests/lab/peers/test_livekit_peer.py",
    "lab/peers/livekit_parts.py": "tests/lab/peers/test_livekit_peer.py",
    "lab/bench/voice_sentences.py": "tests/lab/bench/test_voice_judge.py",
    "lab/sim/card_memory_layout.py": "tests/lab/sim/test_simulated_card.py",
}


def modules() -> list[str]:
    """Every module of the product and of the lab, as a path of the repository."""
    found = [*(ROOT / "appliance").rglob("*.py"), *(ROOT / "lab").rglob("*.py")]
    return sorted(str(p.relative_to(ROOT)) for p in found if p.name != "__init__.py")


def mirror(module: str) -> str:
    """The path in the repository where the tests of `module` belong."""
    path = Path(module)
    folder = path.parent.relative_to("appliance") if path.parts[0] == "appliance" else path.parent
    return str(Path("tests") / folder / f"test_{path.name}")
