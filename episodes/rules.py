"""The validator's rules as a table: id, severity, what has to hold, what to do. docs/validation.md is this table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from episodes.report import Finding, Severity

__all__ = ["RULES", "Findings", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: ``holds`` is the fact that it stands for, ``remedy`` what to do where it does not."""

    id: str
    severity: Severity
    holds: str
    remedy: str


_RECOVER = "Run `rigflow recover`."
_BACKUP = "Restore the file from a copy, or delete the episode (`rigflow delete`)."
_RECORDER = "Do not use the episode for training until its recorder is understood; record it again."
_DECLARE = "Correct info.json by hand from the newest episode, or record another episode with the right rig."
_OLD = "Nothing; readers understand it."

_TABLE: tuple[Rule, ...] = (
    # The task
    Rule(
        "task.format",
        "error",
        "meta/info.json is there and its format is pooled_episodes_v1.",
        "Point at the task directory itself; other layouts have to be converted first.",
    ),
    Rule(
        "task.unjudged",
        "warning",
        "Every rule could be applied.",
        "Report it with the message: a rule met what it should have been able to judge.",
    ),
    Rule("info.corrupt", "error", "info.json is an ordinary file of JSON, at most 64 MB.", "Restore it from a copy."),
    Rule(
        "info.keys",
        "error",
        "info.json has every key of the contract, with its type and a value that can be.",
        _DECLARE,
    ),
    Rule(
        "info.paths",
        "error",
        "The path templates stay inside the task and have only the fields c, f, image_key, ext; "
        "chunks_size is 1 to 1,000,000.",
        "Restore the templates of the contract; no episode can be found without them.",
    ),
    Rule(
        "info.total-episodes",
        "error",
        "total_episodes is at least the highest number that stands on disk.",
        "Raise it to that number, or the next take will collide.",
    ),
    Rule("info.cameras", "error", "cameras holds the colour slots with height and width, and no depth slot.", _DECLARE),
    Rule("info.video-extensions", "error", "video_extensions maps clean slot names to mp4 or mkv.", _DECLARE),
    Rule(
        "info.phantom-slot",
        "info",
        "Every slot in video_extensions has a video in some episode.",
        "Nothing; an episode was deleted, or an old release declared a slot that never was.",
    ),
    Rule(
        "info.devices",
        "error",
        "Each device has a key of its own, a kind, a name and slots; no slot belongs to two.",
        _DECLARE,
    ),
    Rule("info.device-names", "warning", "device_names has every slot of every device.", _DECLARE),
    Rule("info.sensors", "warning", "sensors lists the glove columns that the features declare.", _DECLARE),
    Rule("info.slam-frames", "error", "slam_frames says of each trajectory what its feature says.", _DECLARE),
    Rule(
        "info.gripper-frame",
        "warning",
        "gripper_slam_frame is there if and only if a gripper has a trajectory, and is rig 1's frame, else rig 2's.",
        _DECLARE,
    ),
    Rule("info.calibration", "warning", "calibration maps keys to objects.", _DECLARE),
    Rule(
        "info.tasks",
        "warning",
        "tasks.jsonl is one line of JSON with the task's text.",
        "Write it again from task_name.",
    ),
    Rule(
        "feature.form",
        "error",
        "Each feature has a dtype, a shape, and where the contract asks for them an encoding "
        "and a scale, as the contract has them for that column.",
        _DECLARE,
    ),
    Rule("feature.stray", "error", "features has no status, key or evidence column and no video.", _DECLARE),
    Rule("feature.missing", "error", "Every observation column and action of an episode is a feature.", _DECLARE),
    Rule(
        "feature.unused",
        "info",
        "Every feature is a column of some episode.",
        "Nothing; its episodes were deleted, or are not among those that were looked at.",
    ),
    # Statistics
    Rule("stats.corrupt", "warning", "stats.json is a JSON object.", "Delete it; the next episode starts it afresh."),
    Rule("stats.missing", "warning", "A task with episodes has a stats.json.", "The next episode writes it."),
    Rule(
        "stats.block",
        "error",
        "Each block has a count, finite mean, std, min, max of one width, std ≥ 0, and min ≤ mean ≤ max.",
        "Delete the block; the next episode starts it afresh.",
    ),
    Rule(
        "stats.count",
        "error",
        "No count is above the number of samples that the episodes can have.",
        "Episodes were counted twice: delete stats.json.",
    ),
    Rule("stats.column", "warning", "No block is of a matrix, a trajectory or stamps.", "Delete the block."),
    # Layout
    Rule(
        "layout.link",
        "error",
        "What stands in the places of the contract is an ordinary file inside the task, no link "
        "out of it, no pipe, no device.",
        "Put the file itself there.",
    ),
    Rule(
        "layout.name",
        "error",
        "Every data, video and row file stands where the templates put its number.",
        "Rename it to the template's form.",
    ),
    Rule(
        "layout.slot-name",
        "warning",
        "Slot folders have clean names: letters, digits, _ and CJK.",
        "Rename the folder, and the slot in info.json.",
    ),
    Rule(
        "layout.orphan-data",
        "error",
        "A data file has its episodes row.",
        "The commit is not whole: run `rigflow recover`; if nothing can be recovered, delete the number.",
    ),
    Rule(
        "layout.orphan-row",
        "error",
        "An episodes row of more than no rows has its data file.",
        "Restore the data file, or delete the number.",
    ),
    Rule("layout.orphan-video", "error", "A video file has its data file.", "Delete the number, or restore its data."),
    Rule("layout.staging", "warning", "No take was left behind unfinished.", _RECOVER),
    Rule(
        "layout.recycled",
        "warning",
        "recycled_episode.json names a number that is above every completed one and of which nothing exists.",
        "Delete the marker; it is not used.",
    ),
    Rule("layout.foreign", "info", "Only files of the layout stand in the task.", "Nothing; readers ignore them."),
    # Rows
    Rule("data.corrupt", "error", "The data file is a readable parquet file.", _BACKUP),
    Rule("data.empty", "error", "An episode has rows.", "Delete the episode."),
    Rule("data.keys", "error", "Every key column, action and both hand poses are there.", _RECORDER),
    Rule(
        "data.names",
        "error",
        "Column names follow the contract.",
        "Rename them in the recorder; names must not change inside a task.",
    ),
    Rule("data.type", "error", "Every column has exactly the contract's type.", _RECORDER),
    Rule("data.null", "error", "No value is null; a row without a sample holds the placeholder.", _RECORDER),
    Rule("data.not-finite", "warning", "Numbers of observations are finite.", "Look at the device that gave them."),
    Rule(
        "data.episode-index",
        "error",
        "episode_index is the file's number + 1 in every row.",
        "The file was copied to another number; put it back.",
    ),
    Rule("data.frame-index", "error", "frame_index is 0, 1, 2 … without a hole.", _RECORDER),
    Rule("data.timestamp", "error", "timestamp is finite, not negative and strictly increasing.", _RECORDER),
    Rule("data.wall-time", "error", "wall_time is finite and strictly increasing.", _RECORDER),
    Rule("data.wall-clock", "error", "wall_time is the start's wall clock plus timestamp.", _RECORDER),
    Rule(
        "data.rate",
        "warning",
        "There are as many rows as their time needs at fps, less the counted skipped ticks.",
        "Rows were lost uncounted, or the recorder's clock was wrong.",
    ),
    Rule("data.hardware-ns", "error", "hardware_ns never goes back and can be a monotonic clock.", _RECORDER),
    Rule("data.hardware-ns-missing", "error", "With video, every row has a hardware_ns.", _RECORDER),
    Rule(
        "data.hardware-ns-span",
        "warning",
        "hardware_ns runs beside the rows' own time.",
        "The device's clock was wrong; pair by receipt.",
    ),
    Rule("data.frame-ns", "error", "A slot's _frame_ns never goes back and can be a monotonic clock.", _RECORDER),
    Rule(
        "data.raw-hw-ns",
        "warning",
        "raw_hw_ns is there only if a row has a device stamp.",
        "Nothing; ignore the column.",
    ),
    Rule("data.status", "error", "status columns say connected or disconnected.", _RECORDER),
    Rule(
        "data.evidence",
        "error",
        "Evidence columns hold their codes: dup 0 or 1, gap not negative, ts_src 0 to 3.",
        _RECORDER,
    ),
    Rule("data.imu", "error", "Each row has as many imu_ts_ns as IMU samples, and they never go back.", _RECORDER),
    Rule("data.unsampled", "warning", "A column of lists has a sample in some row.", "Nothing; ignore the column."),
    # Trajectories
    Rule("slam.points", "error", "A trajectory row is a whole number of points of 8.", _RECORDER),
    Rule(
        "slam.lockstep",
        "error",
        "A trajectory's _ns list is as long as its points in every row, and there is no _ns without its trajectory.",
        _RECORDER,
    ),
    Rule("slam.unstamped", "warning", "A _ns column has at least one stamp.", "Pair by rows, roughly."),
    Rule(
        "slam.stamps",
        "warning",
        "Stamps of points never go back and lie in the time of the take.",
        "Look at the tracker's clock before pairing.",
    ),
    Rule(
        "slam.pose",
        "error",
        "Points are finite and their quaternions are of length 1 to a hundredth.",
        "Look at the tracker; drop those points.",
    ),
    Rule(
        "slam.specs",
        "error",
        "slam_specs has exactly this episode's trajectories, each with frame, frame_axes, time, owner and source_slot.",
        _RECORDER,
    ),
    Rule("slam.axes", "error", "A registered frame has its registered axes, any other one declares them.", _DECLARE),
    Rule("slam.declared-otherwise", "error", "The newest episode's slam_specs say what the features say.", _DECLARE),
    # Force matrices
    Rule(
        "force.specs",
        "error",
        "Each force matrix column has its entry in force_matrix_specs, of the contract's form "
        "and of the column's type.",
        "Values cannot be trusted in mN until the scale is known.",
    ),
    Rule(
        "force.declared-otherwise",
        "error",
        "The newest episode's force_matrix_specs say what the features say.",
        _DECLARE,
    ),
    Rule("force.length", "error", "A force matrix row is empty or 187,500 values.", _RECORDER),
    Rule("force.decode", "error", "Every force matrix decodes to finite values (deep).", _RECORDER),
    Rule(
        "force.unstamped",
        "warning",
        "A row with a force sample has its stamp.",
        "Pair that sample by its row, roughly.",
    ),
    # The episodes row
    Rule(
        "row.corrupt",
        "error",
        "The episodes row is a readable parquet file of one row, its JSON columns are objects.",
        _BACKUP,
    ),
    Rule(
        "row.number",
        "error",
        "Its episode_index is the file's number + 1.",
        "The file was copied to another number; put it back.",
    ),
    Rule("row.length", "error", "length is the number of rows, start is 0 and end is length - 1.", _RECORDER),
    Rule("row.duration", "error", "duration_sec is length / fps.", _RECORDER),
    Rule(
        "row.drop-stats",
        "error",
        "drop_stats holds whole numbers, none negative, imu_overflow always; no slot repeats "
        "more frames than there are rows.",
        _RECORDER,
    ),
    Rule("row.clock", "error", "clock holds mono_ns and wall_s that can be.", "Stamps have no Unix time."),
    # Video
    Rule("video.corrupt", "error", "Each video opens and holds a picture stream of its kind.", _BACKUP),
    Rule("video.missing", "error", "Each slot that the columns speak of has its video.", _BACKUP),
    Rule("video.extension", "error", "A slot's file has the extension that video_extensions declares.", _DECLARE),
    Rule(
        "video.coding",
        "error",
        "Depth is gray12le HEVC in mp4 or gray16le FFV1 in mkv; colour is 8 bits a channel.",
        _RECORDER,
    ),
    Rule("video.rows", "error", "Each video has as many frames as there are rows.", _RECORDER),
    Rule(
        "video.grid",
        "error",
        "Frame i is shown at i / fps (mkv: to the millisecond).",
        "Readers go by number, not by time; remux before an export.",
    ),
    Rule(
        "video.size",
        "warning",
        "A colour video is of the size that cameras declares.",
        "The camera was changed inside the task; the newest episode's size is declared.",
    ),
    Rule(
        "video.key-frames",
        "warning",
        "A key frame comes at least every 15 frames.",
        "Random access is slow; read in order.",
    ),
    Rule("video.decode", "error", "Every frame decodes (deep).", _BACKUP),
    Rule(
        "depth.beyond",
        "warning",
        "Depth in log codes ends below 5 m (the first frame; deep: all).",
        "What is further away was lost; record that slot with depth_codec ffv1.",
    ),
    # Old data
    Rule("old.rows-per-frame", "warning", "One row a frame.", "Readers keep the first row of each frame."),
    Rule(
        "old.hardware-ns", "warning", "hardware_ns is a whole 64-bit stamp.", "Readers unwrap it; the origin is lost."
    ),
    Rule("old.slam-pose", "info", "No column slam_pose.", "Readers ignore it."),
    Rule("old.frame", "info", "Each trajectory declares its frame.", "Readers take right_forward_up."),
    Rule("old.shard", "info", "No file-NNN files.", _OLD),
    Rule("old.row", "info", "The episodes row has the columns of today.", _OLD),
    Rule("old.glove", "info", "Each glove column is bound to a device.", "Which glove is which follows from no key."),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _TABLE}
"""Every rule by its id."""


class Findings:
    """Collects what the rules find."""

    def __init__(self) -> None:
        self.found: list[Finding] = []

    def add(
        self, rule: str, path: Path, message: str, episode: int | None = None, severity: Severity | None = None
    ) -> None:
        """Note a finding; ``severity`` only where it is milder than the rule's own, as for old data."""
        self.found.append(Finding(rule, severity or RULES[rule].severity, path, episode, message))
