"""OpenCV, which has ITT in its own code: what was called how often, and for how long, of any picture."""

import json
import time

import cv2
import numpy

own = {"cv::GaussianBlur": 0.0, "cv::Canny": 0.0, "cv::resize": 0.0}
picture = numpy.random.default_rng(1).integers(0, 255, (600, 800, 3), numpy.uint8)
assert "ITT" in cv2.getBuildInformation(), "this OpenCV is built without ITT"
for _ in range(20):
    for name, call in (
        ("cv::GaussianBlur", lambda: cv2.GaussianBlur(picture, (9, 9), 2)),
        ("cv::Canny", lambda: cv2.Canny(picture, 50, 100)),
        ("cv::resize", lambda: cv2.resize(picture, (400, 300))),
    ):
        began = time.monotonic()
        call()
        own[name] += time.monotonic() - began
print(json.dumps({"seconds": own, "counts": dict.fromkeys(own, 20), "instants": {}, "apart": []}))
