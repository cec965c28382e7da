"""The workflows run only files of the repository, with minimal permissions, and pin every foreign
action to a commit. `make check` also runs a linter on them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from appliance import __version__
from image.publish import sums
from scripts import published, sign

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github/workflows").glob("*.yml")}
PINNED = re.compile(r"uses: [\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
TEMPLATE = re.compile(r"\$\{\{")


class Words(yaml.SafeLoader):
    """The booleans of YAML 1.2, in which `on` is a string."""


Words.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:bool"]
    for letter, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(WORKFLOWS[name].read_text(), Words)  # noqa: S506  # a SafeLoader
    return found


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in load(name)["jobs"].values() for step in job["steps"]]


def test_there_are_two_workflows() -> None:
    assert set(WORKFLOWS) == {"ci", "release"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_is_pinned_to_a_commit_with_its_version_in_a_comment(name: str) -> None:
    lines = [line.strip().removeprefix("- ") for line in WORKFLOWS[name].read_text().splitlines()]
    used = [line for line in lines if line.startswith("uses:")]
    assert used
    assert [line for line in used if not PINNED.match(line)] == []
    known = ("checkout", "upload-artifact", "download-artifact")
    assert {line.partition("@")[0] for line in used} <= {f"uses: actions/{each}" for each in known}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_permissions_are_granted_by_job_and_are_minimal(name: str) -> None:
    flow = load(name)
    assert flow["permissions"] == {}
    rights = {job: definition["permissions"] for job, definition in flow["jobs"].items()}
    assert rights == (
        {"run": {"contents": "read"}}
        if name == "ci"
        else {
            "build": {"contents": "read"},
            "sign": {"contents": "read"},
            "publish": {"contents": "write"},
        }
    )
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 150
        (clone,) = (step for step in job["steps"] if "checkout" in step.get("uses", ""))
        assert clone["with"]["persist-credentials"] == "false"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_template_expression_is_part_of_a_script(name: str) -> None:
    """A tag or branch may have any name; scripts get it through the environment, in quotes."""
    for step in steps(name):
        assert not TEMPLATE.search(step.get("run", "")), step


def test_the_key_is_written_by_one_step_of_one_job_and_removed_at_the_end() -> None:
    text = WORKFLOWS["release"].read_text()
    assert text.count("secrets.") == 1
    signs = load("release")["jobs"]["sign"]
    assert signs["environment"] == "release"
    (writes,) = (step for step in signs["steps"] if "RELEASE_KEY" in step.get("env", {}))
    assert "umask 077" in writes["run"]
    removes = [step for step in signs["steps"] if "rm -f" in step.get("run", "")]
    assert [step["if"] for step in removes] == ["always()"]
    assert "set -x" not in text


def test_the_job_with_the_key_runs_no_code_of_others_and_signs_without_a_network() -> None:
    jobs = load("release")["jobs"]
    others = {name: job for name, job in jobs.items() if name != "sign"}
    assert "environment" not in str([list(job) for job in others.values()])
    assert jobs["sign"]["needs"] == "build"
    assert jobs["publish"]["needs"] == "sign"
    ours = re.compile(
        r"(?:make|pip|apt-get|docker|curl|wget|npm|mmdebstrap|\.venv)\b|\.github/debian"
    )
    runs = [step["run"] for step in jobs["sign"]["steps"] if "run" in step]
    assert not [run for run in runs if ours.search(run)]
    programs = {name for run in runs for name in re.findall(r"scripts/\w+\.py", run)}
    assert programs == {"scripts/sign.py", "scripts/published.py"}
    (signs,) = (run for run in runs if "scripts/sign.py" in run)
    assert "unshare --net python3 -I -S scripts/sign.py" in signs
    text = (ROOT / ".github/debian").read_text()
    assert "release-key" not in text
    assert "RELEASE_KEY" not in text


def test_the_job_that_signs_gets_the_digest_of_what_was_built_past_the_artifacts() -> None:
    jobs = load("release")["jobs"]
    assert jobs["build"]["outputs"] == {"sheet": "${{ steps.digest.outputs.sheet }}"}
    names = [step.get("name", "") for step in jobs["sign"]["steps"]]
    at = names.index("What came over is what was built")
    assert at < names.index("Write the key for its owner alone")
    assert jobs["sign"]["steps"][at]["env"] == {"SHEET": "${{ needs.build.outputs.sheet }}"}


@pytest.mark.process
@pytest.mark.parametrize("changed", ["", "card.img", "card.sha256"])
def test_a_file_exchanged_between_the_two_jobs_is_detected_before_the_key_is_written(
    tmp_path: Path, changed: str
) -> None:
    """Runs the step that notes the digest, and that which compares it."""
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "card.img").write_text("built")
    sums([dist / "card.img"], dist / "card.sha256")
    output = tmp_path / "output"
    known = {**os.environ, "GITHUB_OUTPUT": str(output)}
    (notes,) = (step for step in steps("release") if step.get("id") == "digest")
    subprocess.run(["bash", "-e", "-c", notes["run"]], cwd=tmp_path, env=known, check=True)
    if changed:
        (dist / "card.img").write_text("exchanged")
    if changed == "card.sha256":
        sums([dist / "card.img"], dist / "card.sha256")
    (compares,) = (step for step in steps("release") if "SHEET" in step.get("env", {}))
    known["SHEET"] = output.read_text().strip().removeprefix("sheet=")
    done = subprocess.run(["bash", "-e", "-c", compares["run"]], cwd=tmp_path, env=known,
                          capture_output=True, check=False)  # fmt: skip
    assert (done.returncode == 0) == (not changed), done.stderr


def test_what_is_published_was_checked_after_it_was_signed_and_again_after_it_came_over() -> None:
    jobs = load("release")["jobs"]
    for job, before, after in (
        ("sign", "scripts/sign.py", "actions/upload-artifact"),
        ("publish", "actions/download-artifact", "gh release create"),
    ):
        does = [step.get("run") or step["uses"] for step in jobs[job]["steps"]]
        (signs,) = (at for at, words in enumerate(does) if before in words)
        (checks,) = (at for at, words in enumerate(does) if "published.py check" in words)
        (leaves,) = (at for at, words in enumerate(does) if after in words)
        assert signs < checks < leaves
        assert does[checks] == "python3 scripts/published.py check dist .github/allowed_signers"
    assert " --draft " in does[-1]


def test_the_build_gets_nothing_of_the_environment_of_its_job() -> None:
    assert "\nenv -i HOME=/root PATH=" in (ROOT / ".github/debian").read_text()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_file_and_command_of_the_scripts_exists(name: str) -> None:
    commands = " ".join(step.get("run", "") for step in steps(name))
    for path in re.findall(r"(?<![\w/.])((?:\.github|\.ci|scripts)/[\w.-]+)", commands):
        if (
            path != ".github/allowed_signers"
        ):  # the file of the signers is checked by a test of its own
            assert (ROOT / path).is_file(), path
    for verb in re.findall(r"make (\w+)", commands):
        assert re.search(rf"^{verb}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for verb in re.findall(r"published\.py (\w+)", commands):
        assert hasattr(published, verb)


@pytest.mark.process
def test_a_release_without_its_signers_fails_before_it_is_built(tmp_path: Path) -> None:
    """Runs the steps before the build in a repository without the file."""
    (tmp_path / ".github").mkdir()
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    runs = [step for step in load("release")["jobs"]["build"]["steps"] if "run" in step]
    (at,) = (i for i, step in enumerate(runs) if "make image" in step["run"])
    known = {**os.environ, "GITHUB_REF_NAME": f"v{__version__}"}
    done = [
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, text=True, check=False,
                       capture_output=True, env=known)
        for step in runs[:at]
    ]  # fmt: skip
    assert [run.returncode for run in done] == [0, 1]
    assert ".github/allowed_signers is missing" in done[1].stderr
    assert "SIGNERS.md" in done[1].stderr
    assert (ROOT / ".github/SIGNERS.md").is_file()


def test_the_build_gets_the_public_keys_and_the_download_address() -> None:
    (build,) = (step for step in steps("release") if "make image" in step.get("run", ""))
    assert "/releases/download/" in build["env"]["DOWNLOAD"]
    assert 'INTERLUDE_DOWNLOAD="$DOWNLOAD"' in build["run"]
    assert "make image SIGNERS=.github/allowed_signers" in build["run"]


@pytest.mark.process
def test_the_step_that_writes_the_key_makes_it_private(tmp_path: Path) -> None:
    """Runs the step with an invented key."""
    own = tmp_path / "own"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", own], check=True)
    signers = tmp_path / "repository/.github/allowed_signers"
    signers.parent.mkdir(parents=True)
    (tmp_path / "repository/scripts").symlink_to(ROOT / "scripts")
    public = own.with_suffix(".pub").read_text()
    signers.write_text(f'release@interlude namespaces="interlude-release" {public}')
    (step,) = (step for step in steps("release") if "RELEASE_KEY" in step.get("env", {}))
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path / "repository", capture_output=True, text=True, check=False,
        env={**os.environ, "RELEASE_KEY": own.read_text().rstrip("\n"),
             "RUNNER_TEMP": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    written = tmp_path / "release-key"
    assert written.stat().st_mode & 0o777 == 0o600
    file = tmp_path / "file"
    file.write_text("x")
    sign.sign([sums([file], tmp_path / "file.sha256")], written)  # the key can sign
